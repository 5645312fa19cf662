package lsp

type workspaceEdit struct{}
