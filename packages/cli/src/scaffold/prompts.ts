import { CommandError } from '../exit.ts'

/** A value that a flag gives, or the user. */
export interface Question {
  readonly flag: string
  readonly given: string | undefined
  readonly message: string
  readonly initial?: string
  readonly problemOf: (value: string) => string | undefined
}

/** Whether questions can be asked. */
export const isInteractive = ({ yes }: { readonly yes: boolean }): boolean =>
  !yes && process.stdin.isTTY === true && process.stdout.isTTY === true

/** The flag's value; in a terminal, the answer to a question; else the initial value. */
export async function askText(question: Question, options: { readonly yes: boolean }): Promise<string> {
  const { flag, given, message, initial, problemOf } = question
  if (given !== undefined) return given
  if (!isInteractive(options)) {
    if (initial !== undefined) return initial
    throw new CommandError(`${flag} is required`, { exitCode: 2 })
  }
  const { isCancel, text } = await import('@clack/prompts')
  const answer = await text({
    message,
    ...(initial !== undefined && { initialValue: initial }),
    validate: value => problemOf(value ?? ''),
  })
  if (isCancel(answer)) throw new CommandError('cancelled; nothing was written')
  return answer
}

/** The choices that the user makes; only in a terminal. */
export async function askChoices<T extends string>(
  message: string,
  choices: Readonly<Partial<Record<T, string>>>,
): Promise<T[]> {
  const { isCancel, multiselect } = await import('@clack/prompts')
  const entries = Object.entries<string>(choices as Readonly<Record<T, string>>)
  const answer = await multiselect<string>({
    message,
    required: true,
    options: entries.map(([value, label]) => ({ value, label })),
  })
  if (isCancel(answer)) throw new CommandError('cancelled; nothing was written')
  return answer as T[]
}
