// Starts `d9mlint server` and speaks with it; all that is shown is the server's.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

const SECTION = "d9mlint";
/** Settings of the extension alone, which the server does not know. */
const OWN = new Set(["command"]);
const LANGUAGES = ["python", "cuda-cpp", "cpp", "c", "yaml", "json", "shellscript", "dockerfile", "makefile"];
/** Files that decide about findings, and are changed outside of the editor as well. */
const WATCHED = "**/{d9mlint.toml,pyproject.toml,requirements*.txt,*.py,*.ipynb}";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("d9mlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration(`${SECTION}.command`)) {
        await restart();
      } else if (event.affectsConfiguration(SECTION)) {
        await client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const [command, ...args] = vscode.workspace.getConfiguration(SECTION).get<string[]>("command", []);
  if (command === undefined) {
    void vscode.window.showErrorMessage("d9mlint.command is empty: it starts the server, as in [\"d9mlint\", \"server\"].");
    return;
  }
  const server: ServerOptions = { command, args, options: { cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath } };
  client = new LanguageClient(SECTION, "d9mlint", server, options());
  try {
    await client.start();
  } catch (error) {
    const hint = "pip install 'd9mlint[server]' brings the server; d9mlint.command names it.";
    void vscode.window.showErrorMessage(`d9mlint: ${command} does not start: ${String(error)}. ${hint}`);
  }
}

function options(): LanguageClientOptions {
  return {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
    initializationOptions: settings(),
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher(WATCHED) },
    middleware: { workspace: { configuration: () => [settings()] } },
  };
}

/** What is set, without what only the extension knows. */
function settings(): Record<string, unknown> {
  const all = Object.entries(vscode.workspace.getConfiguration(SECTION));
  return Object.fromEntries(all.filter(([name, value]) => !OWN.has(name) && typeof value !== "function"));
}
