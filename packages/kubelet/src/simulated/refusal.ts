import { newBadRequest, type StatusError } from '@coxswain/apimachinery/status'

const refusals = {
  exec: 'commands cannot be run',
  attach: 'there is nothing to attach to',
  dial: 'ports cannot be reached',
} as const

/** What a client is told who wants something of a container that only seems to run. */
export function refuseToSimulate(what: keyof typeof refusals): StatusError {
  return newBadRequest(
    `${refusals[what]}: nothing runs on a simulated node; \`coxswain up --runtime process\` runs containers as processes`,
  )
}
