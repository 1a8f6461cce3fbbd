import type { TokenAnswer, TokenAuthenticator, TokenOwner, TokenQuestion } from './authenticator.ts'

/** The token's user, or the errors of all authenticators; synchronous where all of them are. */
export function authenticateInOrder(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  question: TokenQuestion,
): TokenOwner | readonly string[] | Promise<TokenOwner | readonly string[]> {
  const errors: string[] = []
  const note = (answer: TokenAnswer): TokenOwner | undefined => {
    if (!answer || 'user' in answer) return answer
    if (!errors.includes(answer.error)) errors.push(answer.error)
    return undefined
  }
  const tryFrom = (start: number): ReturnType<typeof authenticateInOrder> => {
    for (let i = start; i < authenticators.length; i++) {
      const answer = authenticators[i]!(token, question)
      if (answer instanceof Promise) return answer.then(late => note(late) ?? tryFrom(i + 1))
      const owner = note(answer)
      if (owner) return owner
    }
    return errors
  }
  return tryFrom(0)
}

/** Combines several authenticators into one; `list` is called for every token. */
export function uniteTokens(list: () => readonly TokenAuthenticator[]): TokenAuthenticator {
  const complete = (answer: TokenOwner | readonly string[]): TokenAnswer => {
    if ('user' in answer) return answer
    return answer.length === 0 ? undefined : { error: answer.join(', ') }
  }
  return (token, question) => {
    const answer = authenticateInOrder(list(), token, question)
    return answer instanceof Promise ? answer.then(complete) : complete(answer)
  }
}
