import { isNotFound } from '@coxswain/apimachinery/wire-format'

/** What was found, or undefined: the one failure that is a value. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
