import { expect, it } from 'vitest';
import { SUPPORTED_LAYOUTS } from '../../config/chains-schema.ts';
import { layoutAdapter } from './adapters.ts';
import { eventLayout, eventLayouts } from './event-layouts.ts';

it.each(SUPPORTED_LAYOUTS)('has an adapter and the events of the layout %s, which deployments may use', (layout) => {
  expect(layoutAdapter(layout).layout).toBe(layout);
  expect(eventLayout(layout)).toBe(eventLayouts[layout]);
});

it('names a layout that it does not know', () => {
  expect(() => layoutAdapter('vaulted')).toThrow('vaulted');
  expect(() => eventLayout('vaulted')).toThrow('vaulted');
});
