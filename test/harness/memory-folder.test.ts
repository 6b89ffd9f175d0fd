import { expect, onTestFinished, test, vi } from 'vitest';
import { isOfMemory, memoryFolder } from './memory-folder.ts';

test('memory that runs programs is taken, the last mount counts', () => {
  const disk = '/dev/sda1 / ext4 rw,relatime 0 0';
  const memory = 'tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0';
  const ofContainer = 'shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0';
  expect(isOfMemory([disk, memory].join('\n'))).toBe(true);
  expect(isOfMemory([memory, ofContainer].join('\n'))).toBe(false);
  expect(isOfMemory([memory, '/dev/sda2 /dev/shm ext4 rw 0 0'].join('\n'))).toBe(false);
  expect(isOfMemory(disk)).toBe(false);
  expect(isOfMemory('')).toBe(false);
});

test('a temporary folder of the environment comes first', () => {
  vi.stubEnv('TMPDIR', import.meta.dirname);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(memoryFolder()).toBe(import.meta.dirname);
});
