/** The rules of the repository, each a small program with a test that plants a violation. @module */
import { bannedGlobals } from './banned-globals.ts'
import { errorCodes } from './error-codes.ts'
import { fileSize } from './file-size.ts'
import type { Check } from './finding.ts'
import { focusedTests } from './focused-tests.ts'
import { generatedFiles } from './generated-files.ts'
import { layers } from './layers.ts'
import { lockFile } from './lock-file.ts'
import { markdownLinks } from './markdown-links.ts'
import { namedExports } from './named-exports.ts'
import { packageMetadata } from './package-metadata.ts'
import { readmeCommands } from './readme-commands.ts'
import { spreadCalls } from './spread-calls.ts'

export const checks: readonly Check[] = [
  layers,
  bannedGlobals,
  spreadCalls,
  namedExports,
  packageMetadata,
  errorCodes,
  markdownLinks,
  readmeCommands,
  generatedFiles,
  lockFile,
  focusedTests,
  fileSize,
]
