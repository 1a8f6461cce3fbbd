import { encodeText, type Logger } from '@coxswain/kit'
import { describeRequest } from '../../describe-request.ts'
import type { Handler, WireResponse } from '../../message.ts'
import { BodyBudget } from './body-budget.ts'
import type { StallGuard } from './body-writer.ts'
import { Deadlines } from './deadlines.ts'
import type { ResolvedLimits } from './limits.ts'
import type { ConnectionInfo, ReceivedRequest } from './received-request.ts'
import { Turns } from './turns.ts'

/** Whether a request is proxied by the handler; `path` is as on the wire. */
export type PassThrough = (path: string) => boolean

/** The response when there is no memory for a body that the handler needs. */
export const noRoom: WireResponse = {
  status: 429,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '1' },
  body: encodeText('Too many requests, please try again later.\n'),
}

export interface ServerCoreOptions {
  readonly handler: Handler
  readonly limits: ResolvedLimits
  readonly log: Logger
  readonly passesThrough?: PassThrough | undefined
  readonly isUrgent?: PassThrough | undefined
  readonly defersBodies?: boolean | undefined
}

/** What both protocols share: the handler, the limits, and the count of requests in flight. */
export class ServerCore {
  readonly limits: ResolvedLimits
  readonly deadlines: Deadlines = new Deadlines()
  readonly stall: StallGuard
  readonly #patience: StallGuard
  readonly onBodyError: (error: unknown) => void
  readonly passesThrough: PassThrough
  /** Whether the handler receives bodies itself. */
  readonly defersBodies: boolean
  readonly budget: BodyBudget
  readonly turns: Turns = new Turns()
  readonly #isUrgent: PassThrough
  readonly #handler: Handler
  readonly #log: Logger
  /** Once set, connections close after the current response. */
  draining = false
  #underWay = 0
  #whenIdle: (() => void) | undefined

  constructor(options: ServerCoreOptions) {
    const { handler, limits, log } = options
    this.passesThrough = options.passesThrough ?? (() => false)
    this.#isUrgent = options.isUrgent ?? (() => false)
    this.defersBodies = options.defersBodies ?? false
    this.budget = new BodyBudget(limits.bufferedBytes)
    this.#handler = handler
    this.#log = log
    this.limits = limits
    this.stall = { deadlines: this.deadlines, timeout: limits.stallTimeout }
    this.#patience = { deadlines: this.deadlines, timeout: Number.POSITIVE_INFINITY }
    this.onBodyError = error => log.error('response aborted', { error })
  }

  /** What a streamed response is sent with. */
  stallOf({ unhurried }: WireResponse): StallGuard {
    return unhurried ? this.#patience : this.stall
  }

  /** Calls the handler, in its turn; `send` gets undefined when the handler fails. */
  handle(
    connection: ConnectionInfo,
    request: ReceivedRequest,
    send: (answer: WireResponse | undefined) => void,
  ): void {
    this.#underWay++
    if (this.#isUrgent(request.path)) this.#begin(request, send)
    else this.turns.run(connection, () => this.#begin(request, send))
  }

  /** Runs `work` in the connection's turn. */
  inTurn<T>(connection: ConnectionInfo, work: Promise<T>): Promise<T> {
    return work.then(result => new Promise(resolve => this.turns.run(connection, () => resolve(result))))
  }

  #begin(request: ReceivedRequest, send: (answer: WireResponse | undefined) => void): void {
    let answering: Promise<WireResponse>
    try {
      answering = this.#handler(request)
    } catch (error) {
      // A handler that throws instead of rejecting must not end the process either.
      answering = Promise.reject(error)
    }
    answering.then(
      answer => {
        this.#send(send, answer, request)
        this.#done()
      },
      error => {
        this.#log.error('handler failed', { error, ...describeRequest(request) })
        this.#send(send, undefined, request)
        this.#done()
      },
    )
  }

  /** Counts work that continues after the head of a response. It may not reject. */
  settle(work: Promise<void>): void {
    this.#underWay++
    work.then(
      () => this.#done(),
      error => {
        this.onBodyError(error)
        this.#done()
      },
    )
  }

  /** Resolves when no request is being handled. */
  idle(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#whenIdle = resolve
    })
  }

  #send(
    send: (answer: WireResponse | undefined) => void,
    answer: WireResponse | undefined,
    request: ReceivedRequest,
  ) {
    try {
      send(answer)
    } catch (error) {
      // An invalid header, for example.
      this.#log.error('response cannot be sent', { error, ...describeRequest(request) })
      if (answer) this.#send(send, undefined, request)
    }
  }

  #done(): void {
    if (--this.#underWay === 0) this.#whenIdle?.()
  }
}
