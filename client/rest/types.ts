import type { components, operations } from '../schema.d.ts';
import type { OPERATIONS } from './operations.ts';

/** Shapes of the OpenAPI document, such as `Schemas['Pool']`. */
export type Schemas = components['schemas'];

/** Name of an operation, as in the OpenAPI document. */
export type OperationId = keyof typeof OPERATIONS;

type Parameters<Id extends OperationId, In extends 'path' | 'query'> = operations[Id]['parameters'] extends {
  readonly [Key in In]?: infer Values;
}
  ? CamelCase<Values>
  : unknown;

type Body<Id extends OperationId> = operations[Id] extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer Json } };
}
  ? Json
  : unknown;

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail> & string>}` : Name;
/** An operation without parameters of a kind has `undefined` or `never` there. */
type CamelCase<Values> = [NonNullable<Values>] extends [never]
  ? unknown
  : { [Name in keyof NonNullable<Values> as Camel<Name>]: NonNullable<Values>[Name] };

/**
 * Parameters and body of an operation in one object; names in camel case: `chain_id` is `chainId`. A body that is a
 * list has the parameters as properties: `Object.assign([call, call], { chainId: 1 })`.
 */
export type RequestOf<Id extends OperationId> = Parameters<Id, 'path'> & Parameters<Id, 'query'> & Body<Id>;

/**
 * What an operation returns; undefined for notifications alone, of `callTakers`. Integers of 64 bits are a bigint above
 * 2^53 - 1.
 */
export type ResponseOf<Id extends OperationId> =
  | operations[Id]['responses'][200]['content']['application/json']
  | (Id extends 'callTakers' ? undefined : never);

export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time for the call with all its retries, milliseconds. Default: that of the client. */
  readonly deadlineMs?: number | undefined;
}
