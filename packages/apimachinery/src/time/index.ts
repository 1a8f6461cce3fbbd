/** Times and durations in the forms of the API. */
export { durationToMilliseconds, parseDuration } from './duration.ts'
export { formatAge, formatHumanDuration } from './human-duration.ts'
export { canonicalizeMicroTime, canonicalizeTime, formatMicroTime, formatTime, parseTime } from './time.ts'
