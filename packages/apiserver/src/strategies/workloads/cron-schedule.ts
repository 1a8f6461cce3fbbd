import { isMachineryError, parseDuration } from '@coxswain/apimachinery'

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const places: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]
const descriptors = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const every = '@every '

/** Why a text is no schedule in the five-field notation of cron; undefined when it is one. */
export function scheduleProblem(text: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=([^ ]*)( .*)?$/s.exec(text)
  if (zone) {
    if (zone[2] === undefined) return 'panic: schedule has a time zone and nothing else'
    return scheduleProblem(zone[2].trim())
  }
  if (text.startsWith('@')) return descriptorProblem(text)
  const fields = text.trim().split(/\s+/).filter(Boolean)
  if (fields.length !== places.length)
    return `expected exactly ${places.length} fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, bounds] of places.entries()) {
    for (const expression of fields[index]!.split(',').filter(Boolean)) {
      const problem = rangeProblem(expression, bounds)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.has(text)) return undefined
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`
  try {
    parseDuration(text.slice(every.length))
    return undefined
  } catch (error) {
    if (isMachineryError(error)) return `failed to parse duration ${text}: ${error.message}`
    throw error
  }
}

/** `*`, `5`, `1-5`, `mon-fri`, each with a step: `0-30/10`. */
function rangeProblem(expression: string, bounds: Bounds): string | undefined {
  const steps = expression.split('/')
  const ends = steps[0]!.split('-')
  let { min: start, max: end } = bounds
  if (ends[0] !== '*' && ends[0] !== '?') {
    const first = readNumber(ends[0]!, bounds)
    if (typeof first === 'string') return first
    if (ends.length > 2) return `too many hyphens: ${expression}`
    const last = ends.length === 2 ? readNumber(ends[1]!, bounds) : first
    if (typeof last === 'string') return last
    start = first
    end = last
  }
  let step = 1
  if (steps.length > 2) return `too many slashes: ${expression}`
  if (steps.length === 2) {
    const read = readNumber(steps[1]!, { min: 0, max: 0 })
    if (typeof read === 'string') return read
    step = read
    if (ends.length === 1) end = bounds.max
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  return step === 0 ? `step of range should be a positive number: ${expression}` : undefined
}

function readNumber(text: string, { names, min }: Bounds): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0) return named + min
  if (!/^[+-]?[0-9]+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  const number = Number(text)
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}
