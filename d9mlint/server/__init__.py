"""The language server: what ``d9mlint check`` says, beside the lines of an editor.

It judges the programs that reach a file which is open, out of the cache where nothing has changed, and sees unsaved
buffers as files that are saved. ``serve`` speaks the protocol, with pygls; all else are functions from data to data.
"""
