import type { ControllerName } from '@coxswain/controllers/names'
import type { Logger } from '@coxswain/kit'
import type { StaticPod } from '@coxswain/kubelet'
import { joinHostPort } from '../access/serving-addresses.ts'
import { hasServiceProxy } from '../options/service-proxy-options.ts'
import type { UpOptions } from '../options/up-options.ts'
import type { Component } from './component-logs.ts'

export interface ControlPlanePlaces {
  readonly options: UpOptions
  readonly dataDir: string
  /** The port of the server. */
  readonly port: number
  /** The runtime of the nodes. */
  readonly address: string
}

const version = '0.1.0'

/** The components: all of them this one process, each with its own options. */
export function describeParts({ options, dataDir, port, address }: ControlPlanePlaces): StaticPod[] {
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
  const endpoint = joinHostPort(address, port)
  const serverFlags = [
    `--advertise-address=${address}`,
    `--bind-address=${options.bindAddress}`,
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
export function tellStart(
  log: Logger,
  controllers: readonly ControllerName[],
  { options, port, dataDir }: ControlPlanePlaces,
): void {
  log.info('serving securely', { address: joinHostPort(options.bindAddress, port), version })
  const manager = log.child({ operator: 'kube-controller-manager' })
  for (const controller of controllers) manager.info('starting controller', { name: controller })
  log.child({ operator: 'kube-scheduler' }).info('starting scheduler', { version })
  const where = options.storage === 'etcd' ? { servers: options.etcdServers } : { dataDir }
  log.child({ component: 'etcd' }).info('opened the store', { storage: options.storage, ...where })
}
