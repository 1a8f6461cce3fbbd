package interop

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A pod behind an address that proxies may connect to, and a service that leads to it.
type proxied struct {
	client    *kubernetes.Clientset
	namespace string
	port      string
	// Each value lets the stream at /stream go on.
	pace chan struct{}
}

func serveProxied(t *testing.T) proxied {
	t.Helper()
	p := proxied{client: clientset(t), namespace: namespace(t), pace: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		length, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %d", r.Method, r.URL.RequestURI(), length)
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; ; i++ {
			_, _ = fmt.Fprintf(w, "tick %d\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-p.pace:
			case <-r.Context().Done():
				close(p.pace)
				return
			}
		}
	})
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	must(t, err)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	p.port = strconv.Itoa(port)
	p.makeObjects(t, reachableAddress(t), int32(port))
	return p
}

// reachableAddress is one of this machine's that is not a loopback one: proxies refuse those.
func reachableAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Fatal("this machine has no address but loopback ones")
	return ""
}

func (p proxied) makeObjects(t *testing.T, address string, port int32) {
	t.Helper()
	core, ctx := p.client.CoreV1(), t.Context()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	_, err := core.ServiceAccounts(p.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: named("default")}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	pod, err := core.Pods(p.namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: named("web"),
		Spec:       corev1.PodSpec{NodeName: "elsewhere", Containers: []corev1.Container{{Name: "main", Image: "x"}}},
	}, metav1.CreateOptions{})
	must(t, err)
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	_, err = core.Pods(p.namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	must(t, err)
	_, err = core.Services(p.namespace).Create(ctx, &corev1.Service{
		ObjectMeta: named("web"),
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}, metav1.CreateOptions{})
	must(t, err)
	// Not slices: these are what kube-apiserver's service proxy reads.
	_, err = core.Endpoints(p.namespace).Create(ctx, &corev1.Endpoints{
		ObjectMeta: named("web"),
		Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: address, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: p.namespace, Name: "web"}}},
			Ports:     []corev1.EndpointPort{{Name: "http", Port: port}},
		}},
	}, metav1.CreateOptions{})
	must(t, err)
}

func TestProxiesOfPodsAndServicesAnswerTheTypedClient(t *testing.T) {
	p := serveProxied(t)
	ctx := within(t, 2*time.Minute)
	pods, services := p.client.CoreV1().Pods(p.namespace), p.client.CoreV1().Services(p.namespace)
	query := map[string]string{"a": "b"}
	for name, get := range map[string]rest.ResponseWrapper{
		"pod":               pods.ProxyGet("http", "web", p.port, "echo", query),
		"service by name":   services.ProxyGet("", "web", "http", "echo", query),
		"service by number": services.ProxyGet("", "web", "80", "echo", query),
	} {
		body, err := get.DoRaw(ctx)
		if err != nil || string(body) != "GET /echo?a=b 0" {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	_, err := services.ProxyGet("", "web", "81", "", nil).DoRaw(ctx)
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a port that is not there: %v", err)
	}
	_, err = pods.ProxyGet("http", "web", "1", "", nil).DoRaw(ctx)
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a port where nobody listens: %v", err)
	}
}

func TestProxiesPassLargeBodiesOn(t *testing.T) {
	p := serveProxied(t)
	ctx := within(t, 2*time.Minute)
	body := bytes.Repeat([]byte("x"), 10<<20)
	answer, err := p.client.CoreV1().RESTClient().Put().Namespace(p.namespace).Resource("pods").Name("web:" + p.port).
		SubResource("proxy").Suffix("echo").Body(io.NopCloser(bytes.NewReader(body))).DoRaw(ctx)
	if want := fmt.Sprintf("PUT /echo %d", len(body)); err != nil || string(answer) != want {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestProxiesStreamWhatComesAndTellWhenTheClientLeaves(t *testing.T) {
	p := serveProxied(t)
	stream, err := p.client.CoreV1().Pods(p.namespace).ProxyGet("http", "web", p.port, "stream", nil).Stream(within(t, 2*time.Minute))
	must(t, err)
	lines := bufio.NewScanner(stream)
	for i := range 3 {
		if !lines.Scan() || lines.Text() != fmt.Sprintf("tick %d", i) {
			t.Fatalf("line %d is %q", i, lines.Text())
		}
		p.pace <- struct{}{}
	}
	must(t, stream.Close())
	for range p.pace { // closed by the server when the client has left
		continue
	}
}
