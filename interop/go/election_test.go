package interop

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// candidate stands for election until it is stopped.
type candidate struct {
	leads chan struct{}
	stop  func()
	done  chan struct{}
}

func stand(ctx context.Context, t *testing.T, ns, name string, release bool) *candidate {
	t.Helper()
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, ns, "captain",
		resourcelock.ResourceLockConfig{Identity: name}, config(t), 5*time.Second)
	must(t, err)
	ctx, stop := context.WithCancel(ctx)
	c := &candidate{leads: make(chan struct{}), stop: stop, done: make(chan struct{})}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: name, ReleaseOnCancel: release,
		LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(c.leads) },
			OnStoppedLeading: func() {},
		},
	})
	must(t, err)
	go func() {
		defer close(c.done)
		elector.Run(ctx)
	}()
	return c
}

func (c *candidate) mustLead(ctx context.Context, t *testing.T, who string) {
	t.Helper()
	select {
	case <-c.leads:
	case <-ctx.Done():
		t.Fatalf("%s does not lead", who)
	}
}

func TestLeaderElectionHandsOver(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	first := stand(ctx, t, ns, "first", true)
	first.mustLead(ctx, t, "the first")
	second := stand(ctx, t, ns, "second", false)
	time.Sleep(time.Second)
	select {
	case <-second.leads:
		t.Fatal("two lead at once")
	default:
	}
	first.stop()
	<-first.done
	second.mustLead(ctx, t, "the second, after the first released the lease,")

	// The second goes without a word: the third has to wait until the lease runs out.
	third := stand(ctx, t, ns, "third", true)
	second.stop()
	<-second.done
	third.mustLead(ctx, t, "the third, after the lease ran out,")
	lease, err := clientset(t).CoordinationV1().Leases(ns).Get(ctx, "captain", metav1.GetOptions{})
	must(t, err)
	equal(t, "holder", *lease.Spec.HolderIdentity, "third")
	if *lease.Spec.LeaseTransitions < 2 {
		t.Fatalf("%d transitions", *lease.Spec.LeaseTransitions)
	}
	third.stop()
	<-third.done
}
