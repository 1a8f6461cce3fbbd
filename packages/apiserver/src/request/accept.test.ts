import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { negotiate } from './accept.ts'

const everything = () => true

describe('negotiate', () => {
  it('answers JSON when nothing is asked for', () => {
    assert.deepEqual(negotiate(undefined, everything), { encoding: 'json', pretty: false })
    assert.equal(negotiate('*/*', everything)?.encoding, 'json')
    assert.equal(negotiate('application/*', everything)?.encoding, 'json')
  })

  it('prefers JSON where the client accepts protobuf too', () => {
    assert.equal(
      negotiate('application/vnd.kubernetes.protobuf,application/json', everything)?.encoding,
      'json',
    )
    assert.equal(negotiate('application/vnd.kubernetes.protobuf', everything)?.encoding, 'protobuf')
  })

  it("parses kubectl's header as a Table", () => {
    const kubectl =
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
    assert.deepEqual(negotiate(kubectl, everything)?.transform, { as: 'Table', version: 'v1' })
  })

  it('skips unknown transformations', () => {
    assert.equal(negotiate('application/json;as=Chart;v=v1;g=meta.k8s.io', everything), undefined)
    assert.deepEqual(negotiate('application/json;as=Chart;v=v1;g=meta.k8s.io,application/json', everything), {
      encoding: 'json',
      pretty: false,
    })
  })

  it('accepts nothing for a browser that wants only HTML', () => {
    assert.equal(negotiate('text/html', everything), undefined)
  })

  it('does not offer an encoding that the endpoint does not support', () => {
    assert.equal(
      negotiate('application/vnd.kubernetes.protobuf', encoding => encoding === 'json'),
      undefined,
    )
  })
})
