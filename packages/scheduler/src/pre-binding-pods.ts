/** Pods in the preBind phase, which may take long and can be cancelled. */
export class PreBindingPods {
  readonly #pods = new Map<string, AbortController>()

  /** The returned signal aborts with an error if the pod is cancelled, or with `parent`. */
  add(uid: string, parent: AbortSignal): AbortSignal {
    const controller = new AbortController()
    this.#pods.set(uid, controller)
    return AbortSignal.any([parent, controller.signal])
  }

  /** From now on it cannot be cancelled. */
  delete(uid: string): void {
    this.#pods.delete(uid)
  }

  /** Returns whether it was present. */
  cancel(uid: string, reason: string): boolean {
    const controller = this.#pods.get(uid)
    controller?.abort(new Error(reason))
    return controller !== undefined
  }
}
