import type { JsonObject } from '@coxswain/apimachinery/json'
import type { ResourceContext } from '../../request/context.ts'

/** Answers a question: what it returns goes to the client. Throws a StatusError when the question makes no sense. */
export type Review = (context: ResourceContext, question: JsonObject) => Promise<JsonObject> | JsonObject
