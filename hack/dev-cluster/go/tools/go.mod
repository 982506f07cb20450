// Small programs of the development cluster that Argo CD needs beside it. Versions: docs/dependencies.md.
module argosy.dev/hack/tools

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.35.0
	golang.org/x/crypto v0.58.0
)

require (
	github.com/yuin/gopher-lua v1.1.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
