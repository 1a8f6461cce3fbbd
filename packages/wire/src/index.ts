export type {
  Handler,
  PeerCertificate,
  Transport,
  WireBody,
  WireHeaders,
  WireRequest,
  WireResponse,
} from './message.ts'
