/**
 * What the host of nodes needs before there are any. An entry of its own, because loading it costs next to nothing.
 * @module
 */
export { LogBuffer } from './mirror-pods/log-buffer.ts'
export { mirrorName, mirrorNamespace } from './mirror-pods/mirror-pod.ts'
export { loopbackAddressOf } from './service-proxy/loopback-address.ts'
export { refuseToSimulate } from './simulated/refusal.ts'
