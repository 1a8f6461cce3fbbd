import type { Logger } from '@coxswain/kit'
import { createMirrorPods, createServiceProxy, type StaticPod } from '@coxswain/node'
import { defineOperator, type Operator } from '@coxswain/runtime'
import type { Component } from './component-logs.ts'
import type { ControllerName } from './controller-names.ts'
import { nodeNamesOf } from './node-names.ts'
import { hasServiceProxy } from './service-proxy-options.ts'
import type { UpOptions } from './up.ts'

export interface ControlPlanePodsOptions {
  readonly options: UpOptions
  readonly controllers: readonly ControllerName[]
  readonly dataDir: string
  /** What the server listens on. */
  readonly port: number
  /** Of the nodes. */
  readonly address: string
  readonly log: Logger
}

const version = '0.1.0'

/**
 * The nodes, and what runs beside them: the service proxy where Pods are processes, and the parts of the control plane as
 * Pods of the first node. One operator, so that they share caches.
 */
export async function joinControlPlane(nodes: Operator, join: ControlPlanePodsOptions): Promise<Operator> {
  const { options, address, log } = join
  const names = nodeNamesOf(options.nodes)
  const companions: Operator[] = []
  if (hasServiceProxy(options)) {
    const { createServiceSockets } = await import('@coxswain/node/process')
    companions.push(createServiceProxy({ sockets: createServiceSockets(), nodes: new Set(names), address }))
  }
  companions.push(
    createMirrorPods({
      node: names[0] ?? '',
      pods: describeParts(join),
      // Without kubeadm's taint: on a machine of one node no Pod would ever run.
      nodeLabels: { 'node-role.kubernetes.io/control-plane': '' },
    }),
  )
  tellStart(log, join)
  return defineOperator(nodes.name, operator => {
    for (const part of [nodes, ...companions]) part.setup(operator)
  })
}

/** What the parts are: all of them this one process, each with the options that concern it. */
function describeParts({ options, dataDir, port, address }: ControlPlanePodsOptions): StaticPod[] {
  const make = (
    component: Component,
    flags: readonly string[],
    rest: Partial<StaticPod> = {},
  ): StaticPod => ({
    name: component,
    labels: { component, tier: 'control-plane' },
    image: `coxswain/${component}:${version}`,
    command: ['coxswain', 'up', ...flags],
    ...rest,
  })
  const endpoint = `${address}:${port}`
  const serverFlags = [
    `--port=${port}`,
    `--data-dir=${dataDir}`,
    `--service-cluster-ip-range=${options.serviceClusterIpRange}`,
  ]
  const storeFlags = [
    `--storage=${options.storage}`,
    ...(options.storage === 'etcd' ? [`--etcd-servers=${options.etcdServers?.join(',')}`] : []),
    ...(options.storage === 'sqlite' ? [`--data-dir=${dataDir}`] : []),
  ]
  return [
    make('kube-apiserver', serverFlags, {
      annotations: { 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint': endpoint },
    }),
    make('kube-controller-manager', [`--controllers=${options.controllers.join(',')}`]),
    make('kube-scheduler', []),
    make('etcd', storeFlags, { image: `coxswain/${options.storage}:${version}` }),
    ...(hasServiceProxy(options)
      ? [make('kube-proxy', ['--runtime=process'], { labels: { 'k8s-app': 'kube-proxy' } })]
      : []),
  ]
}

/** The first lines of each log. */
function tellStart(log: Logger, { options, controllers, port, dataDir }: ControlPlanePodsOptions): void {
  log.info('serving securely', { address: `127.0.0.1:${port}`, version })
  const manager = log.child({ operator: 'kube-controller-manager' })
  for (const controller of controllers) manager.info('starting controller', { name: controller })
  log.child({ operator: 'kube-scheduler' }).info('starting scheduler', { version })
  const where = options.storage === 'etcd' ? { servers: options.etcdServers } : { dataDir }
  log.child({ component: 'etcd' }).info('opened the store', { storage: options.storage, ...where })
}
