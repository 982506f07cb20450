// Command redis answers on one port as a Redis server would, so that every machine runs the same cache for Argo CD without
// a container engine. It understands the flags of redis-server that a pod passes; those about persistence and memory are
// read and ignored, because the data lives in this process alone.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

type settings struct {
	bind     string
	port     string
	password string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	wanted, err := parse(arguments)
	if err != nil {
		return err
	}
	server := miniredis.NewMiniRedis()
	if wanted.password != "" {
		server.RequireAuth(wanted.password)
	}
	address := net.JoinHostPort(wanted.bind, wanted.port)
	if err := server.StartAddr(address); err != nil {
		return err
	}
	defer server.Close()
	fmt.Println("Ready to accept connections on", address)
	serve(server)
	return nil
}

// serve moves the server's clock once a second (keys do not expire by themselves) until the process is told to end.
func serve(server *miniredis.Miniredis) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// parse reads redis-server's flags. A pod may write "--requirepass secret" as one argument (as Argo CD's manifest does)
// or as two; unknown flags are refused, so that a setting somebody relies on is not lost in silence.
func parse(arguments []string) (settings, error) {
	result := settings{bind: "127.0.0.1", port: "6379"}
	words := []string{}
	for _, argument := range arguments {
		if flag, value, found := strings.Cut(argument, " "); found && strings.HasPrefix(flag, "--") {
			words = append(words, flag, strings.TrimSpace(value))
		} else {
			words = append(words, argument)
		}
	}
	for len(words) > 0 {
		flag := words[0]
		words = words[1:]
		values := 0
		for values < len(words) && !strings.HasPrefix(words[values], "--") {
			values++
		}
		value := strings.Join(words[:values], " ")
		words = words[values:]
		switch flag {
		case "--bind":
			result.bind = value
		case "--port":
			result.port = value
		case "--requirepass":
			result.password = value
		case "--save", "--appendonly", "--dir", "--maxmemory", "--maxmemory-policy", "--protected-mode", "--loglevel", "--io-threads", "--timeout", "--tcp-keepalive":
		default:
			return result, fmt.Errorf("the flag %q is not known", flag)
		}
	}
	return result, nil
}
