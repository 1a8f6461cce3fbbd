import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createSeededRandom } from '@coxswain/kit'
import { openSqliteStore } from '@coxswain/storage/sqlite'
import { Acknowledged, verifyAfterCrash } from './verify.ts'

/** Kills a process that writes to one store, at a random moment, again and again. Returns what was wrong afterwards. */
export async function killRepeatedly(options: { seed: number; times: number }): Promise<string[]> {
  const { seed, times } = options
  const random = createSeededRandom(seed)
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-kill-'))
  const acknowledged = new Acknowledged()
  const problems: string[] = []
  try {
    // So that the directory is there when the first life begins.
    await (await openSqliteStore({ directory })).close()
    for (let life = 0; life < times; life++) {
      const writes = await liveAndDie({
        directory,
        seed: seed + life,
        delay: random.below(150),
        acknowledged,
      })
      if (writes === 0) problems.push(`life ${life} wrote nothing`)
      problems.push(
        ...verifyAfterCrash(directory, acknowledged).map(problem => `after life ${life}: ${problem}`),
      )
      if (problems.length > 10) break
    }
    return problems
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** One life: writes until `delay` milliseconds after the first acknowledgement. Returns how many there were. */
async function liveAndDie(life: {
  directory: string
  seed: number
  delay: number
  acknowledged: Acknowledged
}): Promise<number> {
  const { directory, seed, delay, acknowledged } = life
  const program = fileURLToPath(new URL('./workload.ts', import.meta.url))
  const child = spawn(process.execPath, [program, directory, String(seed), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, FIRST_SEQUENCE: String(seed * 1_000_000) },
  })
  let lines = 0
  for await (const line of createInterface({ input: child.stdout })) {
    // A line that the kill cut off says nothing.
    if (/^\d+ \S+ \d+$/.test(line)) acknowledged.add(line)
    if (++lines === 1) setTimeout(() => child.kill('SIGKILL'), delay)
  }
  return lines
}
