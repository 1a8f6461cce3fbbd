/** Label and field selectors. */
export { type FieldRequirement, parseFieldSelector } from './field-selector.ts'
export {
  formatLabelSelector,
  labelSelectorAsSelector,
  parseLabelSelector,
  Selector,
  selectorFromLabels,
} from './label-selector.ts'
export { createRequirement, type LabelOperator, type Requirement } from './requirement.ts'
