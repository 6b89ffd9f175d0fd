import { type Abi, decodeErrorResult, type Hex } from 'viem';
import { RevertedError } from './dev-chain.ts';

export interface NamedError {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Reads the errors of an ABI. */
export function refusalsBy(abi: Abi) {
  const named = (data: Hex): NamedError => {
    const { errorName, args } = decodeErrorResult({ abi, data });
    return { name: errorName, args: args ?? [] };
  };
  /** Name and arguments of what an action reverts with. */
  const refusalOf = async (action: Promise<unknown>): Promise<NamedError> => {
    try {
      await action;
    } catch (error) {
      if (error instanceof RevertedError) return named(error.data);
      throw error;
    }
    throw new Error('the action was not refused');
  };
  return { named, refusalOf };
}
