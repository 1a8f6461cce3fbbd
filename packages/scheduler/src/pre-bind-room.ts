/** Pods that are being made ready for their nodes, which may take long: for as long they can be called back. */
export class PreBindRoom {
  readonly #inside = new Map<string, AbortController>()

  /** `signal` aborts with an error that says why the pod is called back. `parent`: when all of them are. */
  enter(uid: string, parent: AbortSignal): AbortSignal {
    const controller = new AbortController()
    this.#inside.set(uid, controller)
    return AbortSignal.any([parent, controller.signal])
  }

  /** From now on it is too late. */
  leave(uid: string): void {
    this.#inside.delete(uid)
  }

  /** Whether it was there. */
  callBack(uid: string, reason: string): boolean {
    const controller = this.#inside.get(uid)
    controller?.abort(new Error(reason))
    return controller !== undefined
  }
}
