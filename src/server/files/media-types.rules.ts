/** The media type of a file from its name, by this table alone: the same on every machine. */
import { leafOf } from '../../contract/ids.ts';

const types: Record<string, string> = {
  'text/markdown': 'md markdown',
  'text/html': 'html htm',
  'text/plain': 'txt log ini cfg conf env diff patch sql sh go ts tsx jsx py rb rs java kt swift c h cpp hpp cs php',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/javascript': 'js mjs cjs',
  'application/json': 'json',
  'application/x-ndjson': 'ndjson jsonl',
  'application/yaml': 'yaml yml',
  'application/toml': 'toml',
  'application/xml': 'xml',
  'image/png': 'png',
  'image/jpeg': 'jpg jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz tgz',
  'application/x-tar': 'tar',
  'application/wasm': 'wasm',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
};

const byExtension = new Map(
  Object.entries(types).flatMap(([type, extensions]) => extensions.split(' ').map((each) => [each, type] as const)),
);

/** The type for a path: by what follows the last dot of its last part, unless that part begins with it. */
export function mediaTypeOf(name: string): string {
  const leaf = leafOf(name);
  const dot = leaf.lastIndexOf('.');
  const extension = dot > 0 ? leaf.slice(dot + 1).toLowerCase() : '';
  return byExtension.get(extension) ?? 'application/octet-stream';
}
