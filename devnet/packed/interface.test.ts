import { toEventSelector, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { stopLossAdminAbi } from '../abi.ts';
import { type ContractName, loadArtifact } from '../artifacts.ts';
import { factoryAbi, flatPoolAbi } from '../protocol-abi.ts';
import * as packed from './abi.ts';

/** Selectors of a contract's functions and errors, topics of its events, as its compiler says. */
function interfaceOf(...names: readonly ContractName[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => loadArtifact(name).abi.map((item) => selectorOf(item as Item))));
}

interface Item {
  readonly type: string;
  readonly name?: string;
}

function selectorOf(item: Item): string {
  if (item.type === 'event') return toEventSelector(item as never);
  return item.type === 'constructor' ? 'constructor' : toFunctionSelector({ ...item, type: 'function' } as never);
}

/** Items that are the same in both generations. */
const sharedWithFlat = (items: readonly Item[], otherwise: readonly string[]) =>
  items.filter(({ name }) => name !== undefined && !otherwise.includes(name));

describe('compiled contracts have every item of', () => {
  test.each([
    ['the pool', ['PackedPool'], [...packed.packedPoolEvents, ...packed.packedPoolErrors]],
    // The swap allowlist is an extension: its refusal reaches the trader as the pool's own.
    [
      'what pools share with flat ones',
      ['PackedPool', 'SwapAllowlist'],
      sharedWithFlat(flatPoolAbi, ['Swap', 'BinSwapped', 'BinAdditionalFeesUpdated', 'simulateSwapAndRevert']),
    ],
    ['the simulation', ['PackedPool'], packed.simulationAbis.noSender],
    ['the simulation for a sender', ['PackedPoolOfSender'], packed.simulationAbis.sender],
    ['the factory', ['PackedPoolFactory'], [...packed.packedFactoryEvents, ...packed.packedFactoryFunctions]],
    [
      'what factories share with flat ones',
      ['PackedPoolFactory'],
      sharedWithFlat(factoryAbi, ['setPoolBinAdditionalFees']),
    ],
    ['the provider', ['QuoteProvider'], packed.quoteProviderAbi],
    ['the provider that answers address 0', ['OpenQuoteProvider'], packed.quoteProviderAbi],
    [
      'the provider that is an extension',
      ['ExtensionQuoteProvider'],
      [...packed.quoteProviderAbi, ...packed.extensionProviderAbi],
    ],
    ['the stop loss', ['PackedStopLoss'], [...packed.packedStopLossAbi, ...stopLossAdminAbi]],
    ['the velocity guard', ['PackedVelocityGuard'], packed.packedVelocityAbi],
    ['the lens', ['PackedDataProvider'], packed.packedLensAbi],
  ] as const)('%s', (_, names, items) => {
    const present = interfaceOf(...names);
    const missing = items.filter((item) => !present.has(selectorOf(item))).map(({ name }) => name);
    expect(missing).toEqual([]);
  });
});

describe('what the world knows', () => {
  const pool = interfaceOf('PackedPool');
  const poolOfSender = interfaceOf('PackedPoolOfSender');
  const factory = interfaceOf('PackedPoolFactory');

  test.each([
    ['Swap', pool, '0x9734819749a91fc3be03ea83205f924ee08479bd3f0da48efc91d94d050cac1e'],
    ['BinSwapped', pool, '0xcad09799f755048f0fd388c6b2fcc8e0cebefd15756c6903522cc2a95f661f70'],
    ['BinAdditionalFeesUpdated', pool, '0x2a1317b5b5812150d82fa4b2e5ae289f62be0c42a042edbdc69b978673746a47'],
    ['BidAskRefAsymmetryUpdated', pool, '0x0262bdf5ceb29428fdaec304f1872012436cebf3ff5621c19bc17b61892940ea'],
    ['PoolCreated', factory, '0x4b36a0ddce54edb36597ee7d496df06c53fe875aba9d7257534a38d5177899aa'],
    ['PoolBidAskRefAsymmetryUpdated', factory, '0xd70b5166926425083b37f7edcb01ace694743874f6156a1aea6c087a2d45058e'],
    ['simulateSwapAndRevert', pool, '0x2cd85904'],
    ['simulateSwapAndRevert for a sender', poolOfSender, '0x658b6cb7'],
    ['getQuote', interfaceOf('QuoteProvider'), '0x171755b1'],
    ['binStates', interfaceOf('PackedDataProvider'), '0x87ca2bfe'],
  ] as const)('%s', (_, present, selector) => {
    expect(present).toContain(selector);
  });

  test('a pool has one form of the simulation', () => {
    expect(pool).not.toContain('0x658b6cb7');
    expect(poolOfSender).not.toContain('0x2cd85904');
    expect(pool).not.toContain('0x5cced60b');
  });
});

/** A chain takes no larger contract (EIP-170), and no larger creation code (EIP-3860). */
const LARGEST_CONTRACT_BYTES = 24_576;

test.each(['PackedPool', 'PackedPoolOfSender', 'PackedPoolDeployer', 'PackedPoolFactory', 'PackedStopLoss'] as const)(
  '%s fits on a chain',
  (name) => {
    const { bytecode, deployedBytecode } = loadArtifact(name);
    expect(deployedBytecode.length / 2 - 1).toBeLessThanOrEqual(LARGEST_CONTRACT_BYTES);
    expect(bytecode.length / 2 - 1).toBeLessThanOrEqual(2 * LARGEST_CONTRACT_BYTES);
  },
);
