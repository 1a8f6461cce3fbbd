package interop

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// cuttingProxy passes TCP connections on to a server and cuts each one, in the middle of whatever it carries, after a
// number of bytes from the server that it draws at random.
type cuttingProxy struct {
	listener net.Listener
	upstream string
	random   *rand.Rand
	cuts     atomic.Int64
	// calm lets new and present connections live.
	calm atomic.Bool
}

// A connection lives long enough for a handshake and several whole frames and TLS records of 16 KiB, of which a cut takes the
// last: a watch that is cut before its first event makes a reflector list again, and a list hides history.
const (
	shortestLife = 64 << 10
	longestLife  = 256 << 10
)

// through makes the clients of this configuration go through a proxy of their own, over connections of their own.
func through(t *testing.T, cfg *rest.Config, seed uint64) *cuttingProxy {
	t.Helper()
	server, err := url.Parse(cfg.Host)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	proxy := &cuttingProxy{listener: listener, upstream: server.Host, random: rand.New(rand.NewPCG(seed, 0))}
	go proxy.serve()
	cfg.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}
	return proxy
}

func (p *cuttingProxy) serve() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		life := shortestLife + p.random.Int64N(longestLife-shortestLife)
		go p.pass(near, life)
	}
}

func (p *cuttingProxy) pass(near net.Conn, life int64) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", p.upstream)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	go func() {
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}()
	if _, err := io.CopyN(near, far, life); err != nil {
		return
	}
	if p.calm.Load() {
		_, _ = io.Copy(near, far)
		return
	}
	p.cuts.Add(1)
}
