import type { Outbound } from '@coxswain/apiserver'
import { createHttpTransport } from '@coxswain/wire/node'

/** Sockets. */
export const socketOutbound: Outbound = {
  connect: ({ origin, ...tls }) => createHttpTransport({ server: origin, tls }),
}
