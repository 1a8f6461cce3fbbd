// Command framework does with client-go and controller-runtime what the benchmark's other programs do with theirs, against the
// server that KUBECONFIG names, and prints what it took as one line of JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// result is what a program reports: milliseconds of wall and processor time, bytes of memory.
type result struct {
	Count        int     `json:"count"`
	Milliseconds float64 `json:"milliseconds"`
	CPU          float64 `json:"cpu"`
	Heap         int64   `json:"heap"`
	Resident     int64   `json:"resident"`
}

func main() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	number := func(index int) int {
		value, err := strconv.Atoi(os.Args[index])
		must(err)
		return value
	}
	switch os.Args[1] {
	case "sync":
		sync(os.Args[2], number(3))
	case "events":
		events(os.Args[2], number(3))
	case "controller":
		reconciles(os.Args[2], number(3), 1, false, true)
	case "reconciles":
		reconciles(os.Args[2], number(3), number(4), os.Args[5] == "live", false)
	case "queue":
		queue(os.Args[2], number(3), number(4))
	default:
		must(fmt.Errorf("unknown task %q", os.Args[1]))
	}
	os.Exit(0)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func config() *rest.Config {
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	cfg.QPS, cfg.Burst = -1, 0
	return cfg
}

// cpu is the processor time of the process so far.
func cpu() time.Duration {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// heap is what is alive after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func resident() int64 {
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	kilobytes, err := strconv.ParseInt(string(regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)[1]), 10, 64)
	must(err)
	return kilobytes * 1024
}

type stopwatch struct {
	started time.Time
	cpu     time.Duration
}

func start() stopwatch { return stopwatch{time.Now(), cpu()} }

func (s stopwatch) stop(count int) result {
	spent := cpu() - s.cpu
	return result{
		Count:        count,
		Milliseconds: float64(time.Since(s.started).Microseconds()) / 1000,
		CPU:          float64(spent.Microseconds()) / 1000,
	}
}

func report(value any) { must(json.NewEncoder(os.Stdout).Encode(value)) }

// told waits until the one who started the program says that it is time.
func told() {
	report(map[string]bool{"ready": true})
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	must(err)
}

// strip is what the other side does by default: both are to hold the same.
func strip(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

func podInformer(namespace string) cache.SharedIndexInformer {
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config()), 0,
		informers.WithNamespace(namespace), informers.WithTransform(strip))
	return factory.Core().V1().Pods().Informer()
}

func await(ctx context.Context, ready func() bool) {
	for !ready() && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

func sync(namespace string, count int) {
	informer := podInformer(namespace)
	var added atomic.Int64
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { added.Add(1) }})
	must(err)
	heapBefore, residentBefore := heap(), resident()
	watch := start()
	ctx := context.Background()
	go informer.RunWithContext(ctx)
	await(ctx, func() bool { return informer.HasSynced() && added.Load() == int64(count) })
	measured := watch.stop(len(informer.GetStore().ListKeys()))
	measured.Heap, measured.Resident = heap()-heapBefore, resident()-residentBefore
	report(measured)
	runtime.KeepAlive(informer)
}

func events(namespace string, count int) {
	informer := podInformer(namespace)
	finished := make(chan struct{})
	seen := 0
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
		if seen++; seen == count {
			close(finished)
		}
	}})
	must(err)
	ctx := context.Background()
	go informer.RunWithContext(ctx)
	await(ctx, registration.HasSynced)
	told()
	watch := start()
	<-finished
	report(watch.stop(count))
}

// reconciles counts reconciles, each a read from the cache and, when live, one from the server. Those of the first list are
// counted, or, when it is told, those that follow.
func reconciles(namespace string, count, workers int, live, waits bool) {
	manager, err := ctrl.NewManager(config(), ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache: ctrlcache.Options{
			DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}},
			DefaultTransform:  ctrlcache.TransformStripManagedFields(),
		},
	})
	must(err)
	cached, direct := manager.GetClient(), manager.GetAPIReader()
	var watch atomic.Pointer[stopwatch]
	var seen atomic.Int64
	settled, finished := make(chan struct{}), make(chan result, 1)
	begin := func() { first := start(); watch.CompareAndSwap(nil, &first) }
	total := int64(count)
	if waits {
		total *= 2
	}
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			if !waits && watch.Load() == nil {
				begin()
			}
			var pod corev1.Pod
			if err := cached.Get(ctx, request.NamespacedName, &pod); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if live {
				must(direct.Get(ctx, request.NamespacedName, &pod))
			}
			switch now := seen.Add(1); {
			case now == total:
				finished <- watch.Load().stop(count)
			case waits && now == int64(count):
				close(settled)
			}
			return reconcile.Result{}, nil
		}))
	must(err)
	go func() { must(manager.Start(context.Background())) }()
	if waits {
		<-settled
		told()
		begin()
	}
	report(<-finished)
}

type plainQueue interface {
	Add(string)
	Get() (string, bool)
	Done(string)
}

// queue lets items pass, so many at a time: all are added, then each is got and done.
func queue(kind string, items, rounds int) {
	var line plainQueue = workqueue.NewTyped[string]()
	if kind == "priority" {
		line = priorityqueue.New[string]("bench")
	}
	names := make([]string, items)
	for i := range names {
		names[i] = fmt.Sprintf("namespace/object-%05d", i)
	}
	pass := func() {
		for _, name := range names {
			line.Add(name)
		}
		for range names {
			name, _ := line.Get()
			line.Done(name)
		}
	}
	for range max(1, rounds/10) {
		pass()
	}
	watch := start()
	for range rounds {
		pass()
	}
	report(watch.stop(items * rounds))
}
