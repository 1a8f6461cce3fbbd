// etcd-put ENDPOINT CONCURRENCY MILLISECONDS: puts values of 2 KB as fast as an etcd answers, and prints puts per second.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func main() {
	concurrency, _ := strconv.Atoi(os.Args[2])
	milliseconds, _ := strconv.Atoi(os.Args[3])
	value := strings.Repeat("A", 2048)
	clients := make([]*clientv3.Client, (concurrency+15)/16)
	for i := range clients {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 5 * time.Second})
		if err != nil {
			panic(err)
		}
		defer client.Close()
		if _, err := client.Get(context.Background(), "x"); err != nil {
			panic(err)
		}
		clients[i] = client
	}
	var puts atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	end := start.Add(time.Duration(milliseconds) * time.Millisecond)
	for worker := range concurrency {
		group.Add(1)
		go func() {
			defer group.Done()
			client := clients[worker%len(clients)]
			for i := 0; time.Now().Before(end); i++ {
				key := fmt.Sprintf("/registry/pods/default/pod-%d-%d-%d", start.UnixNano(), worker, i)
				if _, err := client.Put(context.Background(), key, value); err != nil {
					panic(err)
				}
				puts.Add(1)
			}
		}()
	}
	group.Wait()
	fmt.Println(float64(puts.Load()) / time.Since(start).Seconds())
}
