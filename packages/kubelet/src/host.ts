/**
 * What the program that hosts nodes needs before it starts them. A separate entry, because loading it costs next to nothing.
 * @module
 */

export { loopbackAddressOf } from './kube-proxy/loopback-address.ts'
export { LogBuffer } from './mirror-pods/log-buffer.ts'
export { mirrorName, mirrorNamespace } from './mirror-pods/mirror-pod.ts'
export { refuseToSimulate } from './simulated/refusal.ts'
