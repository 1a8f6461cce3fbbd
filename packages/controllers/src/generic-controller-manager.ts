/**
 * The controllers of a control plane without Pods. They have an entry point of their own, `@coxswain/controllers/generic`,
 * because loading the others takes longer than everything else that such a control plane does at its start.
 * @module
 */
import { defineOperator, type Operator } from '@coxswain/runtime'
import { createClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation-controller.ts'
import type { GenericControllerName, ServesResource } from './controller-names.ts'
import {
  createGarbageCollector,
  type GarbageCollectorOptions,
} from './garbage-collector/garbage-collector.ts'
import { createNamespaceController } from './namespace/namespace-controller.ts'
import { createResourceQuotaController } from './resource-quota/resource-quota-controller.ts'
import { createRootCaPublisher } from './root-ca/root-ca-publisher.ts'
import { createServiceAccountController } from './service-account/service-account-controller.ts'
import { createTokenController, type TokenControllerOptions } from './service-account/token-controller.ts'

/** What the host provides for the controllers. */
export interface ManagerServices {
  /** PEM of the CA that signed the server's certificate. */
  readonly rootCa: string
  /** Signs the claims of a service account's token. */
  readonly signToken: TokenControllerOptions['sign']
  /** Which resources the server has. @default all */
  readonly serves?: ServesResource
  readonly garbageCollector?: GarbageCollectorOptions
}

/** Which generic controllers to run, and what the host provides for them. */
export interface GenericManagerOptions extends ManagerServices {
  readonly controllers: readonly GenericControllerName[]
}

/** By name. */
export const genericControllers: Readonly<
  Record<GenericControllerName, (services: ManagerServices) => Operator>
> = {
  'clusterrole-aggregation-controller': createClusterRoleAggregationController,
  'garbage-collector-controller': ({ garbageCollector }) => createGarbageCollector(garbageCollector),
  'namespace-controller': () => createNamespaceController(),
  'resourcequota-controller': ({ serves }) => createResourceQuotaController(serves),
  'root-ca-certificate-publisher-controller': ({ rootCa }) => createRootCaPublisher(rootCa),
  'serviceaccount-controller': createServiceAccountController,
  'serviceaccount-token-controller': ({ rootCa, signToken }) =>
    createTokenController({ rootCa, sign: signToken }),
}

/** The controllers as one operator, so that they share caches. */
export function createGenericControllerManager(options: GenericManagerOptions): Operator {
  return defineOperator('kube-controller-manager', operator => {
    for (const name of options.controllers) genericControllers[name](options).setup(operator)
  })
}
