import { newBadRequest, type StatusError } from '@coxswain/apimachinery/status'

const refusals = {
  exec: 'commands cannot be run',
  attach: 'there is nothing to attach to',
  dial: 'ports cannot be reached',
} as const

/** The error for exec, attach and port-forward on a simulated node. */
export function refuseToSimulate(what: keyof typeof refusals): StatusError {
  return newBadRequest(
    `${refusals[what]}: nothing runs on a simulated node; \`coxswain up --runtime process\` runs containers as processes`,
  )
}
