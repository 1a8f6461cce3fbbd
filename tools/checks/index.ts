/** The rules of the repository, each a small program with a test that plants a violation. @module */
import { bannedGlobals } from './banned-globals.ts'
import { documentedExports } from './documented-exports.ts'
import { errorCodes } from './error-codes.ts'
import { exportsPage } from './exports-page.ts'
import { fileSize } from './file-size.ts'
import type { Check } from './finding.ts'
import { focusedTests } from './focused-tests.ts'
import { generatedFiles } from './generated-files.ts'
import { layers } from './layers.ts'
import { lockFile } from './lock-file.ts'
import { markdownLinks } from './markdown-links.ts'
import { namedExports } from './named-exports.ts'
import { packageMetadata } from './package-metadata.ts'
import { booleanParameters, manyParameters } from './parameters.ts'
import type { Ratchet } from './ratchet.ts'
import { readmeCommands } from './readme-commands.ts'
import { repeatedLines } from './repeated-lines.ts'
import { spreadCalls } from './spread-calls.ts'
import { testCommands } from './test-commands.ts'
import { words } from './words.ts'

/** The rules that are not kept everywhere yet, and whose counts only fall. */
export const ratchets: readonly Ratchet[] = [manyParameters, booleanParameters, repeatedLines, words]

export const checks: readonly Check[] = [
  layers,
  bannedGlobals,
  spreadCalls,
  namedExports,
  documentedExports,
  exportsPage,
  packageMetadata,
  errorCodes,
  markdownLinks,
  readmeCommands,
  generatedFiles,
  lockFile,
  focusedTests,
  testCommands,
  fileSize,
  ...ratchets,
]
