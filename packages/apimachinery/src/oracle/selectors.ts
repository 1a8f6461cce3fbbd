/** Our half of the comparison with upstream: not part of the package, used by its test and by `tools/oracle`. */
import type { LabelSelector } from '../meta/label-selector.ts'
import { escapeFieldValue, parseFieldSelector, unescapeFieldValue } from '../selectors/field-selector.ts'
import {
  formatLabelSelector,
  labelSelectorAsSelector,
  parseLabelSelector,
  parseToLabelSelector,
  type Selector,
} from '../selectors/label-selector.ts'

export interface SelectorQuestion {
  readonly labels?: string
  readonly fields?: string
  readonly object?: LabelSelector
  readonly unescape?: string
  readonly sets?: readonly Readonly<Record<string, string>>[]
  readonly key?: string
}

export function answerSelector(question: SelectorQuestion): unknown {
  try {
    return answer(question)
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function answer(question: SelectorQuestion): unknown {
  const { labels, fields, object, unescape: escaped, sets = [], key = '' } = question
  if (labels !== undefined) {
    return { ...labelAnswer(parseLabelSelector(labels), question), ...objectOf(labels) }
  }
  if (object !== undefined) {
    return { ...labelAnswer(labelSelectorAsSelector(object), question), shown: formatLabelSelector(object) }
  }
  if (escaped !== undefined) {
    const value = unescapeFieldValue(escaped)
    return { value, escaped: escapeFieldValue(value) }
  }
  const selector = parseFieldSelector(fields!)
  const exact = selector.requiresExactMatch(key)
  return {
    text: selector.toString(),
    empty: selector.isEmpty,
    matches: sets.map(set => selector.matches(set)),
    ...(exact !== undefined && { exact }),
  }
}

function labelAnswer(selector: Selector, { sets = [], key = '' }: SelectorQuestion): Record<string, unknown> {
  const exact = selector.requiresExactMatch(key)
  return {
    text: selector.toString(),
    empty: selector.isEmpty,
    matches: sets.map(set => selector.matches(set)),
    ...(exact !== undefined && { exact }),
  }
}

// Go leaves out the members of a LabelSelector that are empty.
function objectOf(text: string): Record<string, unknown> {
  try {
    const { matchLabels = {}, matchExpressions = [] } = parseToLabelSelector(text)
    const expressions = matchExpressions.map(({ key, operator, values = [] }) => ({
      key,
      operator,
      ...(values.length > 0 && { values }),
    }))
    return {
      object: {
        ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
        ...(expressions.length > 0 && { matchExpressions: expressions }),
      },
    }
  } catch (error) {
    return { objectError: (error as Error).message }
  }
}
