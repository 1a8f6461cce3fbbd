import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brandErrors, CodedError, type IsError } from './errors.ts'

class TeaError extends CodedError<'Cold' | 'Weak'> {
  override readonly name: string = 'TeaError'
}
const isTeaError: IsError<TeaError> = brandErrors(TeaError, 'coxswain.test.TeaError')

describe('branded errors', () => {
  it('carry a code, a name and a cause', () => {
    const cause = new Error('kettle')
    const error = new TeaError('Cold', 'too late', { cause })
    assert.equal(error.code, 'Cold')
    assert.equal(error.name, 'TeaError')
    assert.equal(error.cause, cause)
    assert.equal(String(error), 'TeaError: too late')
  })

  it('are known by their brand, with a code only by that code', () => {
    const error: unknown = new TeaError('Cold', 'too late')
    assert.equal(isTeaError(error), true)
    assert.equal(isTeaError(error, 'Cold'), true)
    assert.equal(isTeaError(error, 'Weak'), false)
    for (const other of [new Error('Cold'), { code: 'Cold' }, 'Cold', null, undefined])
      assert.equal(isTeaError(other), false)
  })

  it('are known when another copy of the package made them', () => {
    class OtherCopy extends CodedError<'Cold' | 'Weak'> {}
    brandErrors(OtherCopy, 'coxswain.test.TeaError')
    assert.equal(isTeaError(new OtherCopy('Weak', 'again'), 'Weak'), true)
  })

  it('include those of subclasses', () => {
    class Iced extends TeaError {}
    assert.equal(isTeaError(new Iced('Cold', 'on purpose')), true)
  })
})
