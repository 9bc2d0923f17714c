"""The language server in a real editor: Neovim without a screen, where one is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("nvim") is None, reason="no nvim here"),
]

SESSION = """
local function told(what) io.stdout:write(vim.json and vim.json.encode(what) or vim.fn.json_encode(what), "\\n") end
local config = { name = "d9mlint", cmd = { vim.env.D9MLINT_PYTHON, "-m", "d9mlint", "server" }, root_dir = vim.fn.getcwd() }
vim.cmd("edit train.py")
local id
if vim.lsp.start then
  id = vim.lsp.start(config)
else -- before 0.8
  id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
end
local function found() return #vim.diagnostic.get(0) end
vim.wait(30000, function() return found() == 1 end, 50)
local first = vim.diagnostic.get(0)[1]
told({ code = first.code, line = first.lnum + 1, message = first.message, source = first.source })
local hover = vim.lsp.buf_request_sync(0, "textDocument/hover", {
  textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = first.lnum, character = first.col },
}, 20000)
told({ hover = hover[id].result.contents.value })
vim.api.nvim_buf_set_lines(0, 3, 3, false, { "    np.random.seed(1)" })
vim.cmd("write")
vim.wait(30000, function() return found() == 0 end, 50)
told({ left = found() })
vim.cmd("quitall!")
"""


def test_neovim_shows_a_finding_its_page_and_that_it_is_gone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(
        "import numpy as np\n\nif __name__ == '__main__':\n    print(np.random.rand(3))\n"
    )
    (tmp_path / "session.lua").write_text(SESSION)
    env = {
        **os.environ, "D9MLINT_PYTHON": sys.executable, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state"),
    }  # fmt: skip
    command = ["nvim", "--headless", "--clean", "-n", "-c", "luafile session.lua", "-c", "cquit"]
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert ran.returncode == 0, ran.stderr
    finding, hover, after = (json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{"))
    assert (finding["code"], finding["line"], finding["source"]) == ("unseeded-numpy", 4, "d9mlint")
    assert "unseeded-numpy" in hover["hover"]
    assert after == {"left": 0}
    assert (tmp_path / "train.py").read_text().splitlines()[3] == "    np.random.seed(1)"
