// The first container of each pod of the real node. It holds the pod's namespaces, and waits until it is told to end.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGINT, syscall.SIGTERM)
	// It is the parent of whatever loses its own in a pod with one process namespace, and the kernel takes those that ended.
	signal.Ignore(syscall.SIGCHLD)
	<-ending
}
