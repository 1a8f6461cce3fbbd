package interop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

const (
	writes  = 10_000
	writers = 16
	names   = 200
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// history is, for each object, what happened to it in order: "ADDED 12", "MODIFIED 15", "DELETED 17".
type history struct {
	mu     sync.Mutex
	events map[string][]string
	count  int
}

func newHistory() *history { return &history{events: map[string][]string{}} }

func (h *history) add(kind string, object any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if unknown, isUnknown := object.(cache.DeletedFinalStateUnknown); isUnknown {
		kind, object = kind+" (noticed by a list)", unknown.Obj
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	h.events[accessor.GetName()] = append(h.events[accessor.GetName()], kind+" "+accessor.GetResourceVersion())
	h.count++
}

func (h *history) length() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

func (h *history) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { h.add("ADDED", object) },
		UpdateFunc: func(_, object any) { h.add("MODIFIED", object) },
		DeleteFunc: func(object any) { h.add("DELETED", object) },
	}
}

func TestInformersSeeExactlyTheHistoryOfTheStoreThroughDisconnects(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		t.Run(fmt.Sprintf("WatchList=%v", watchList), func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			compareHistories(t, watchList)
		})
	}
}

func compareHistories(t *testing.T, watchList bool) {
	ctx := within(t, 4*time.Minute)
	ns := namespace(t)
	stored := watchDirectly(ctx, t, ns)
	seen := startInformers(ctx, t, ns)

	acknowledged := writeMany(ctx, t, ns)
	eventually(t, time.Minute, "the direct watch has seen every write", func() bool { return stored.length() >= acknowledged.count })
	stored.mu.Lock()
	defer stored.mu.Unlock()
	for name, versions := range acknowledged.events {
		for _, version := range versions {
			if !slices.ContainsFunc(stored.events[name], func(event string) bool { return strings.HasSuffix(event, version) }) {
				t.Fatalf("%s: the write acknowledged as version%s is not in the history", name, version)
			}
		}
	}
	equal(t, "events and acknowledged writes", stored.count, acknowledged.count)

	for _, informer := range seen {
		for deadline := time.Now().Add(30 * time.Second); informer.length() < stored.count && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		informer.mu.Lock()
		for name, events := range stored.events {
			if !slices.Equal(informer.events[name], events) {
				t.Errorf("%s, %s: saw %v, the store had %v", informer.name, name, informer.events[name], events)
			}
		}
		if informer.count != stored.count {
			t.Errorf("%s saw %d events, the store had %d", informer.name, informer.count, stored.count)
		}
		informer.check(t, watchList)
		informer.mu.Unlock()
	}
	t.Logf("%d events", stored.count)
}

// watchDirectly collects what the server tells plain watches over connections that nobody cuts. A server may end a watch that
// is slow to read; then the next one goes on from the last version.
func watchDirectly(ctx context.Context, t *testing.T, ns string) *history {
	t.Helper()
	client := clientset(t).CoreV1().ConfigMaps(ns)
	list, err := client.List(ctx, metav1.ListOptions{})
	must(t, err)
	stored := newHistory()
	go func() {
		for version := list.ResourceVersion; ctx.Err() == nil; {
			stream, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
			if err != nil {
				time.Sleep(100 * time.Millisecond)
				continue
			}
			version = stored.follow(ctx, stream, version)
			stream.Stop()
		}
	}()
	return stored
}

// follow adds the events of one watch and gives the version of the last.
func (h *history) follow(ctx context.Context, stream watch.Interface, version string) string {
	for event := range stream.ResultChan() {
		if ctx.Err() != nil {
			break
		}
		accessor, err := meta.Accessor(event.Object)
		if event.Type == watch.Error || err != nil {
			panic(fmt.Sprintf("the direct watch ended: %v", event.Object))
		}
		last, _ := strconv.Atoi(version)
		if next, _ := strconv.Atoi(accessor.GetResourceVersion()); next <= last {
			panic(fmt.Sprintf("event %s %s: version %d after %d", event.Type, accessor.GetName(), next, last))
		}
		version = accessor.GetResourceVersion()
		h.add(string(event.Type), event.Object)
	}
	return version
}

// observed is what the handlers of one informer were told, and how it got there.
type observed struct {
	*history
	name     string
	proxy    *cuttingProxy
	requests *recorder
	// failures are what made the reflector list again.
	failures []string
}

func (o *observed) check(t *testing.T, watchList bool) {
	t.Helper()
	lists, initial, resumed := 0, 0, 0
	for _, each := range o.requests.exchanges() {
		switch {
		case strings.Contains(each.query, "sendInitialEvents=true"):
			initial++
		case strings.Contains(each.query, "watch=true"):
			resumed++
		case each.method == "GET":
			lists++
		}
	}
	for _, failure := range o.failures {
		t.Errorf("%s: began anew after: %s", o.name, failure)
	}
	t.Logf("%s: %d connections cut, %d lists, %d initial watches, %d watches from a version", o.name, o.proxy.cuts.Load(), lists, initial, resumed)
	if o.proxy.cuts.Load() < 5 {
		t.Errorf("%s: only %d connections were cut", o.name, o.proxy.cuts.Load())
	}
	if watchList {
		equal(t, o.name+" initial watches", initial, 1)
		equal(t, o.name+" lists", lists, 0)
	} else {
		equal(t, o.name+" initial watches", initial, 0)
		equal(t, o.name+" lists", lists, 1)
	}
}

// startInformers starts a typed, a dynamic and a metadata informer, each over connections that are cut again and again.
func startInformers(ctx context.Context, t *testing.T, ns string) []*observed {
	t.Helper()
	makers := map[string]func(o *observed) cache.SharedIndexInformer{}
	cfg := config(t)
	makers["typed"] = func(o *observed) cache.SharedIndexInformer {
		cfg := *cfg
		o.proxy, o.requests = through(t, &cfg, 1), record(&cfg)
		factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(&cfg), 0, informers.WithNamespace(ns))
		return factory.Core().V1().ConfigMaps().Informer()
	}
	makers["dynamic"] = func(o *observed) cache.SharedIndexInformer {
		cfg := *cfg
		o.proxy, o.requests = through(t, &cfg, 2), record(&cfg)
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(&cfg), 0, ns, nil)
		return factory.ForResource(configMaps).Informer()
	}
	makers["metadata"] = func(o *observed) cache.SharedIndexInformer {
		cfg := *cfg
		o.proxy, o.requests = through(t, &cfg, 3), record(&cfg)
		factory := metadatainformer.NewFilteredSharedInformerFactory(metadata.NewForConfigOrDie(&cfg), 0, ns, nil)
		return factory.ForResource(configMaps).Informer()
	}
	all := []*observed{}
	for name, make := range makers {
		o := &observed{history: newHistory(), name: name}
		informer := make(o)
		must(t, informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.failures = append(o.failures, err.Error())
		}))
		registration, err := informer.AddEventHandler(o.handler())
		must(t, err)
		go informer.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			t.Fatalf("%s informer: not synced", name)
		}
		all = append(all, o)
	}
	return all
}

// writeMany gives the versions of all acknowledged writes that changed something; a delete has none in its answer.
func writeMany(ctx context.Context, t *testing.T, ns string) *history {
	t.Helper()
	client := clientset(t).CoreV1().ConfigMaps(ns)
	acknowledged := newHistory()
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(writer), 7))
			note := func(object *corev1.ConfigMap, err error, before string) {
				if err != nil {
					t.Errorf("writer %d: %v", writer, err)
					return
				}
				if object.ResourceVersion != before {
					acknowledged.add("", object)
				}
			}
			// A writer has names of its own: every error is a fault, not a race.
			present := map[string]string{}
			for i := range writes / writers {
				name := fmt.Sprintf("w%d-%d", writer, random.IntN(names/writers))
				version, exists := present[name]
				switch action := random.IntN(10); {
				case !exists:
					made, err := client.Create(ctx, &corev1.ConfigMap{
						ObjectMeta: metav1.ObjectMeta{Name: name},
						Data:       map[string]string{"text": strings.Repeat("x", random.IntN(300))},
					}, metav1.CreateOptions{})
					note(made, err, "")
					if err == nil {
						present[name] = made.ResourceVersion
					}
				case action < 2:
					if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
						t.Errorf("writer %d: %v", writer, err)
					}
					delete(present, name)
					acknowledged.mu.Lock()
					acknowledged.count++
					acknowledged.mu.Unlock()
				case action < 6:
					object := &corev1.ConfigMap{
						ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version},
						Data:       map[string]string{"n": strconv.Itoa(i)},
					}
					updated, err := client.Update(ctx, object, metav1.UpdateOptions{})
					note(updated, err, version)
					if err == nil {
						present[name] = updated.ResourceVersion
					}
				default:
					// One in three changes nothing, and must be told to nobody.
					patch := fmt.Sprintf(`{"data":{"p":"%d"}}`, i/3)
					patched, err := client.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
					note(patched, err, version)
					if err == nil {
						present[name] = patched.ResourceVersion
					}
				}
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return acknowledged
}
