/** Object stores that files are kept in for tests: ours in memory, which can be told to fail, and one that others wrote. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { startObjects } from './objects.ts';

export interface ObjectServer {
  /** With a bucket called `bucket`. */
  endpoint: string;
  /** What signs requests to it. */
  keys: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };
  /** Of all objects, sorted. */
  names(): string[];
  read(name: string): Buffer;
  /** Puts an object there behind the back of whoever uses the store. */
  write(name: string, bytes: Buffer): void;
  remove(name: string): void;
  close(): Promise<void>;
}

export async function ours(): Promise<ObjectServer> {
  const { endpoint, objects, close } = await startObjects();
  return {
    endpoint,
    keys: { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    names: () => [...objects.keys()].sort(),
    read: (name) => objects.get(name) as Buffer,
    write: (name, bytes) => void objects.set(name, bytes),
    remove: (name) => void objects.delete(name),
    close,
  };
}

/** It works out the signature of each request itself. */
export async function s3rver(): Promise<ObjectServer> {
  const directory = mkdtempSync(join(tmpdir(), 'board-service-s3-'));
  const bucket = join(directory, 'bucket');
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    allowMismatchedSignatures: false,
    vhostBuckets: false,
    configureBuckets: [{ name: 'bucket' }],
  });
  const { port } = await server.run();
  const suffix = '._S3rver_object';
  const at = (name: string): string => join(bucket, name + suffix);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    keys: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    names: () =>
      namesBelow(bucket)
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .sort(),
    read: (name) => readFileSync(at(name)),
    write(name, bytes) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), bytes);
    },
    remove: (name) => rmSync(at(name)),
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Everything below a folder, read again where a folder of it went meanwhile. */
function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT' || !existsSync(folder)) throw error;
    return namesBelow(folder);
  }
}
