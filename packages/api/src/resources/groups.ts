import {
  authentication,
  authorization,
  certificates,
  flowcontrolApiserver,
  rbacAuthorization,
} from './access-groups.ts'
import { admissionregistration, apiextensions, apiregistration } from './extension-groups.ts'
import { discovery, events, networking, storage } from './infrastructure-groups.ts'
import type { GroupRows } from './row.ts'
import {
  apps,
  autoscaling,
  batch,
  coordination,
  node,
  policy,
  resource,
  scheduling,
} from './workload-groups.ts'

/** Every named group that is served by default, in the order of discovery. */
export const namedGroupRows: readonly GroupRows[] = [
  apiregistration,
  apps,
  events,
  authentication,
  authorization,
  autoscaling,
  batch,
  certificates,
  networking,
  policy,
  rbacAuthorization,
  storage,
  admissionregistration,
  apiextensions,
  scheduling,
  coordination,
  node,
  discovery,
  resource,
  flowcontrolApiserver,
]
