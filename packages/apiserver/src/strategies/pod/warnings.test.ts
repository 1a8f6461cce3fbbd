import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { field } from '@coxswain/apimachinery'
import fc from 'fast-check'
import type { JsonObject } from '../../json.ts'
import { portWarnings } from './port-warnings.ts'
import { overlapWarnings } from './volume-warnings.ts'

/** Every file with every file before it: the definition, too slow for long lists. */
function comparePaths(paths: readonly string[]): string[] {
  const trimmed = paths.map(path => path.replace(/\/+$/, ''))
  const collide = (one: string, other: string) =>
    one !== '' && other !== '' && (`${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`))
  const texts = trimmed.flatMap((path, index) =>
    trimmed
      .slice(0, index)
      .filter(other => collide(path, other))
      .map(other => `volume "v" (ConfigMap "c"): overlapping paths: "${path}" with "${other}"`),
  )
  return [...new Set(texts)]
}

interface Port {
  readonly containerPort: number
  readonly hostPort?: number
  readonly hostIP?: string
}

function comparePorts(ports: readonly Port[]): string[] {
  const at = (index: number) => `spec.containers[0].ports[${index}]`
  return ports.flatMap((port, index) =>
    ports.slice(0, index).flatMap((other, position) => {
      const { hostIP: ip = '', hostPort: host = 0 } = port
      const { hostIP: otherIP = '', hostPort: otherHost = 0 } = other
      if (port.containerPort !== other.containerPort) return []
      const kind =
        ip === otherIP && host === otherHost
          ? 'duplicate'
          : host === 0 || otherHost === 0
            ? 'overlapping'
            : host === otherHost && (ip === '') !== (otherIP === '')
              ? 'dangerously ambiguous'
              : undefined
      return kind ? [`${at(index)}: ${kind} port definition with ${at(position)}`] : []
    }),
  )
}

describe('warnings about a Pod', () => {
  it('name every two files of a volume that overlap, once', () => {
    const path = fc.array(fc.constantFrom('a', 'b', 'a-', '..', '/', 'a/b', 'a/b/c', 'b/a'), { maxLength: 3 })
    fc.assert(
      fc.property(
        fc.array(
          path.map(parts => parts.join('/')),
          { maxLength: 10 },
        ),
        paths => {
          const volume: JsonObject = {
            name: 'v',
            configMap: { name: 'c', items: paths.map(one => ({ key: 'k', path: one })) },
          }
          assert.deepEqual([...overlapWarnings(volume)], comparePaths(paths))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('name the sources of projected files', () => {
    const sources = ['x', 'y', 'x'].map(name => ({ configMap: { name, items: [{ key: 'k', path: 'p' }] } }))
    const start = 'volume "v" (Projected): overlapping paths: '
    assert.deepEqual(
      [...overlapWarnings({ name: 'v', projected: { sources } })],
      [
        `${start}"p" (ConfigMap "y") with "p" (ConfigMap "x")`,
        `${start}"p" (ConfigMap "x") with "p" (ConfigMap "x")`,
        `${start}"p" (ConfigMap "x") with "p" (ConfigMap "y")`,
      ],
    )
  })

  it('name every two ports that get into each other’s way', () => {
    const port: fc.Arbitrary<Port> = fc
      .record({
        containerPort: fc.constantFrom(80, 81),
        hostPort: fc.constantFrom(0, 80, 81),
        hostIP: fc.constantFrom('', '10.0.0.1', '10.0.0.2'),
      })
      .map(given => (given.hostPort === 0 ? { ...given, hostIP: '' } : given))
    fc.assert(
      fc.property(fc.array(port, { maxLength: 12 }), ports => {
        const spec = { containers: [{ ports }] } as unknown as JsonObject
        assert.deepEqual([...portWarnings(spec, field.Path.of('spec'))], comparePorts(ports))
      }),
      { numRuns: 2_000 },
    )
  })
})
