import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  type Compilation,
  compileExpression,
  dynType,
  formatType,
  jsonValue,
  mapOf,
  type Program,
  schemaVariable,
  stringType,
  toJson,
  type VariableDeclaration,
} from '@coxswain/cel'
import type { UserInfo } from '../../request/context.ts'
import { credentialIdKey } from '../authenticator.ts'
import type { JwtAuthenticator, PrefixedClaimOrExpression } from './configuration.ts'
import { validateJwtAuthenticator } from './validation.ts'

/** Maps the claims of a verified token to a user. Returns a text about what is wrong with them. */
export type ClaimsMapper = (claims: JsonObject) => UserInfo | string

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const

const claimsVariable: VariableDeclaration = { type: mapOf(stringType, dynType), convert: jsonValue }
const userVariable = schemaVariable({
  type: 'object',
  properties: {
    username: text,
    uid: text,
    groups: texts,
    extra: { type: 'object', additionalProperties: texts },
  },
})!

/** Throws an Error that lists every problem of the configuration. */
export function compileMapper(
  authenticator: JwtAuthenticator,
  options: { readonly path?: field.Path; readonly disallowedIssuers?: readonly string[] } = {},
): ClaimsMapper {
  const { path = field.Path.root, disallowedIssuers = [] } = options
  const programs = new Map<string, Program>()
  const errors = validateJwtAuthenticator(authenticator, path, {
    disallowedIssuers,
    check: (source, variable, kind) => {
      const variables = variable === 'claims' ? { claims: claimsVariable } : { user: userVariable }
      const made: Compilation = compileExpression(source, { variables })
      if (!made.ok) return `compilation failed: ${made.message}`
      if (kind === 'bool' && formatType(made.type) !== 'bool') return 'must evaluate to bool'
      programs.set(`${variable} ${source}`, made.program)
      return undefined
    },
  })
  if (errors.length > 0) {
    const lines = errors.map(field.formatFieldError)
    throw new Error(lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`)
  }
  const program = (variable: 'claims' | 'user', source: string) => programs.get(`${variable} ${source}`)!
  return claims => {
    try {
      return mapClaims(authenticator, claims, (variable, source, value) =>
        evaluate(program(variable, source), { [variable]: value }),
      )
    } catch (problem) {
      if (problem instanceof ClaimProblem) return problem.message
      throw problem
    }
  }
}

class ClaimProblem extends Error {}

type Evaluate = (variable: 'claims' | 'user', source: string, value: unknown) => unknown

function evaluate(program: Program, values: JsonObject): unknown {
  const result = program.evaluate(values)
  if (!result.ok) throw new ClaimProblem(result.error)
  // Bytes would be converted to text: only strings of the token are names.
  return result.value instanceof Uint8Array ? undefined : toJson(result.value)
}

function mapClaims(authenticator: JwtAuthenticator, claims: JsonObject, run: Evaluate): UserInfo {
  const { claimMappings: mappings, claimValidationRules = [], userValidationRules = [] } = authenticator
  const within = <T>(what: string, work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (error instanceof ClaimProblem) throw new ClaimProblem(`oidc: ${what}: ${error.message}`)
      throw error
    }
  }
  const name = readUsername(mappings.username, claims, run, within)
  const groups = readGroups(mappings.groups ?? {}, claims, run, within)
  const uid = readUid(mappings.uid ?? {}, claims, run, within)
  const extra: Record<string, readonly string[]> = {}
  if (typeof claims.jti === 'string' && claims.jti !== '') extra[credentialIdKey] = [`JTI=${claims.jti}`]
  for (const { key, valueExpression } of mappings.extra ?? []) {
    const values = within('error evaluating extra claim expression', () =>
      readTexts(run('claims', valueExpression, claims)),
    )
    if (values.length > 0) extra[key] = values
  }
  for (const { claim = '', requiredValue = '' } of claimValidationRules) {
    if (claim === '') continue
    if (claims[claim] === undefined)
      throw new ClaimProblem(`oidc: required claim ${claim} not present in ID token`)
    if (claims[claim] !== requiredValue)
      throw new ClaimProblem(`oidc: required claim ${claim} value does not match`)
  }
  const check = (source: string, message: string, passed: unknown) => {
    if (passed !== true) throw new ClaimProblem(`validation expression '${source}' failed: ${message}`)
  }
  within('error evaluating claim validation expression', () => {
    for (const { expression = '', message = '' } of claimValidationRules) {
      if (expression !== '') check(expression, message, run('claims', expression, claims))
    }
  })
  const user: UserInfo = {
    name,
    groups,
    ...(uid !== '' && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
  within('error evaluating user info validation rule', () => {
    for (const { expression, message = '' } of userValidationRules) {
      check(expression, message, run('user', expression, { username: name, uid, groups, extra }))
    }
  })
  return user
}

type Within = <T>(what: string, work: () => T) => T

function readUsername(
  { claim = '', prefix = '', expression = '' }: PrefixedClaimOrExpression,
  claims: JsonObject,
  run: Evaluate,
  within: Within,
): string {
  if (expression !== '') {
    const name = within('error evaluating username claim expression', () => {
      const value = run('claims', expression, claims)
      if (typeof value !== 'string') throw new ClaimProblem('username claim expression must return a string')
      return value
    })
    if (name === '') throw new ClaimProblem('oidc: empty username via CEL expression is not allowed')
    return name
  }
  const name = within(`parse username claims ${JSON.stringify(claim)}`, () => readText(claims, claim))
  if (claim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    throw new ClaimProblem('oidc: email not verified')
  return `${prefix}${name}`
}

function readGroups(
  { claim = '', prefix = '', expression = '' }: PrefixedClaimOrExpression,
  claims: JsonObject,
  run: Evaluate,
  within: Within,
): readonly string[] {
  if (claim !== '') {
    const value = claims[claim]
    if (value === undefined) return []
    const given = Array.isArray(value) ? value : [value]
    if (!given.every(group => typeof group === 'string'))
      throw new ClaimProblem(
        `oidc: parse groups claim ${JSON.stringify(claim)}: not a string or a list of strings`,
      )
    return given.map(group => `${prefix}${group}`)
  }
  if (expression === '') return []
  return within('error evaluating group claim expression', () => readTexts(run('claims', expression, claims)))
}

function readUid(
  { claim = '', expression = '' }: { readonly claim?: string; readonly expression?: string },
  claims: JsonObject,
  run: Evaluate,
  within: Within,
): string {
  if (claim !== '') return within(`parse uid claim ${JSON.stringify(claim)}`, () => readText(claims, claim))
  if (expression === '') return ''
  return within('error evaluating uid claim expression', () => {
    const value = run('claims', expression, claims)
    if (typeof value !== 'string') throw new ClaimProblem('uid claim expression must return a string')
    return value
  })
}

function readText(claims: JsonObject, claim: string): string {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  if (value === undefined) throw new ClaimProblem('claim not present')
  if (typeof value !== 'string') throw new ClaimProblem('the claim is not a string')
  return value
}

/** A string, a list of strings, or nothing; empty ones do not count. */
function readTexts(value: unknown): readonly string[] {
  if (value === null) return []
  const list = Array.isArray(value) ? value : [value]
  if (!list.every(item => typeof item === 'string'))
    throw new ClaimProblem('expression must return a string or a list of strings')
  return list.filter(item => item !== '')
}
