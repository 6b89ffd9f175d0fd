import type { Address } from 'viem';
import { type AttachedExtension, EXTENSION_PHASES, type ExtensionPhase } from '../pool-events.ts';

const NUMBER_BITS = 3n;
const NUMBER_MASK = (1n << NUMBER_BITS) - 1n;

/** Extension numbers (1-based) of an order: 3 bits each, least significant first; 0 ends it. */
export function decodeExtensionOrder(order: bigint): number[] {
  const numbers: number[] = [];
  for (let rest = order; (rest & NUMBER_MASK) !== 0n; rest >>= NUMBER_BITS) {
    numbers.push(Number(rest & NUMBER_MASK));
  }
  return numbers;
}

/** The extensions of a pool with the phases each runs in. Numbers without an extension are ignored. */
export function attachExtensions(
  extensions: readonly Address[],
  orders: Readonly<Record<ExtensionPhase, bigint>>,
): AttachedExtension[] {
  const numbersByPhase = EXTENSION_PHASES.map((phase) => ({ phase, numbers: decodeExtensionOrder(orders[phase]) }));
  return extensions.map((address, index) => ({
    address,
    phases: numbersByPhase.filter(({ numbers }) => numbers.includes(index + 1)).map(({ phase }) => phase),
  }));
}
