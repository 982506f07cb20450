// Command git-ssh serves Git repositories over SSH, read-only, as Git hosts do: one user, public keys, and nothing but
// git-upload-pack. On standard output it prints one line, the host key as a known_hosts file wants it.
//
//	git-ssh --bind 127.0.0.1 --port 2222 --root DIR --host-key FILE --authorized-keys FILE
//
// The file of authorized keys is read for every login, so that keys can be taken away while it runs. The host key is made if the file
// is not there.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
)

type settings struct {
	bind, port, root, hostKey, authorizedKeys string
}

func main() {
	var wanted settings
	flag.StringVar(&wanted.bind, "bind", "127.0.0.1", "address to listen on")
	flag.StringVar(&wanted.port, "port", "0", "port to listen on, 0 for any")
	flag.StringVar(&wanted.root, "root", "", "folder of the repositories")
	flag.StringVar(&wanted.hostKey, "host-key", "", "file of the private host key")
	flag.StringVar(&wanted.authorizedKeys, "authorized-keys", "", "file of the public keys that may log in")
	flag.Parse()
	if err := serve(wanted); err != nil {
		fmt.Fprintln(os.Stderr, "git-ssh:", err)
		os.Exit(1)
	}
}

func serve(wanted settings) error {
	signer, err := hostKey(wanted.hostKey)
	if err != nil {
		return err
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		return &ssh.Permissions{}, allowed(wanted.authorizedKeys, key)
	}}
	config.AddHostKey(signer)
	listener, err := net.Listen("tcp", net.JoinHostPort(wanted.bind, wanted.port))
	if err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	fmt.Printf("[%s]:%s %s", host, port, ssh.MarshalAuthorizedKey(signer.PublicKey()))
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go handle(connection, config, wanted.root)
	}
}

func handle(connection net.Conn, config *ssh.ServerConfig, root string) {
	defer connection.Close()
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "login:", err)
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		channel, asked, err := offered.Accept()
		if err != nil {
			return
		}
		go session(channel, asked, root)
	}
}

// session runs the one command a session asks for; GIT_PROTOCOL is the only variable a client may set.
func session(channel ssh.Channel, asked <-chan *ssh.Request, root string) {
	defer channel.Close()
	protocol := ""
	for request := range asked {
		switch request.Type {
		case "env":
			var variable struct{ Name, Value string }
			_ = ssh.Unmarshal(request.Payload, &variable)
			if variable.Name == "GIT_PROTOCOL" {
				protocol = variable.Value
			}
			_ = request.Reply(variable.Name == "GIT_PROTOCOL", nil)
		case "exec":
			var command struct{ Line string }
			_ = ssh.Unmarshal(request.Payload, &command)
			_ = request.Reply(true, nil)
			status := struct{ Code uint32 }{run(channel, command.Line, root, protocol)}
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
			return
		default:
			_ = request.Reply(false, nil)
		}
	}
}

var command = regexp.MustCompile(`^git[ -]upload-pack '?/?([A-Za-z0-9][A-Za-z0-9._/-]*)'?$`)

func run(channel ssh.Channel, line, root, protocol string) uint32 {
	found := command.FindStringSubmatch(line)
	if found == nil || strings.Contains(found[1], "..") {
		fmt.Fprintln(channel.Stderr(), "only git-upload-pack is served here")
		return 128
	}
	git := exec.Command("git", "upload-pack", filepath.Join(root, found[1]))
	git.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_PROTOCOL=" + protocol}
	git.Stdout, git.Stderr = channel, channel.Stderr()
	input, err := git.StdinPipe()
	if err == nil {
		err = git.Start()
	}
	if err != nil {
		fmt.Fprintln(channel.Stderr(), err)
		return 128
	}
	// Not as git's own standard input: Wait would then wait for the client to say more.
	go func() {
		_, _ = io.Copy(input, channel)
		_ = input.Close()
	}()
	var exit *exec.ExitError
	if err := git.Wait(); errors.As(err, &exit) {
		return uint32(exit.ExitCode())
	}
	return 0
}

func allowed(file string, key ssh.PublicKey) error {
	rest, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for len(rest) > 0 {
		var known ssh.PublicKey
		if known, _, _, rest, err = ssh.ParseAuthorizedKey(rest); err != nil {
			break
		}
		if bytes.Equal(known.Marshal(), key.Marshal()) {
			return nil
		}
	}
	return errors.New("the key is not authorized")
}

func hostKey(file string) (ssh.Signer, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			return nil, err
		}
		text = pem.EncodeToMemory(block)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return ssh.ParsePrivateKey(text)
}
