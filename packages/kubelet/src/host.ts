/**
 * What the host of nodes needs before there are any. An entry of its own, because loading it costs next to nothing.
 * @module
 */

export { loopbackAddressOf } from './kube-proxy/loopback-address.ts'
export { LogBuffer } from './mirror-pods/log-buffer.ts'
export { mirrorName, mirrorNamespace } from './mirror-pods/mirror-pod.ts'
export { refuseToSimulate } from './simulated/refusal.ts'
