/**
 * The catalogue of secrets that may not enter the record, as data. Classes are only ever added. No entropy guessing:
 * what is redacted is gone for good, so each class is anchored on a literal that ordinary text does not hold.
 *
 * Every pattern is linear: wherever something has to follow a repetition, the repetition is bounded.
 */

export interface SecretClass {
  kind: string;
  /** A text file with such a secret is not refused: documents and fixtures hold this shape for good reasons. */
  onlyInMessages?: true;
  /** A short pattern that every secret of the class contains; without it in the text the class is not searched. */
  needle: string;
  /** The secret itself; group 1, where there is one, is the part that is replaced. Absent for `private_key`. */
  pattern?: string;
  /** It starts also within a word. Kept out of `pattern`, for what follows a replaced secret. */
  anywhere?: true;
  anyCase?: true;
  /** Group 1 of a match that is a placeholder and no secret. */
  placeholder?: RegExp;
}

const raw = String.raw;

export const secretClasses: readonly SecretClass[] = [
  { kind: 'private_key', needle: 'PRIVATE KEY' },
  { kind: 'service_token', needle: 'ab[abcdhilp]_', pattern: 'ab[abcdhilp]_[A-Za-z0-9_-]{24,}' },
  {
    kind: 'api_key',
    // The word start stands here too: "task-", "risk-" and "disk-" are frequent.
    needle: '(?<![A-Za-z0-9_])sk-',
    // The digit keeps names such as `sk-learn-contrib-lightning` whole.
    pattern: 'sk-(?=[A-Za-z0-9_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}',
  },
  {
    kind: 'api_key',
    needle: '[rs]k_(?:live|test)_|whsec_',
    pattern: '(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})',
  },
  {
    kind: 'github_token',
    needle: 'gh[pousr]_|github_pat_',
    pattern: '(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255})',
  },
  { kind: 'aws_access_key', needle: 'A[KS]IA', pattern: '(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])' },
  { kind: 'google_api_key', needle: 'AIza', pattern: 'AIza[A-Za-z0-9_-]{35}' },
  {
    kind: 'slack_token',
    needle: 'xox[abeoprs]-|xapp-',
    pattern: '(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})',
  },
  { kind: 'npm_token', needle: 'npm_', pattern: 'npm_[A-Za-z0-9]{36}' },
  {
    kind: 'gitlab_token',
    needle: 'gl(?:pat|dt|ptt|rt|cbt|soat|ft)-',
    pattern: 'gl(?:pat|dt|ptt|rt|cbt|soat|ft)-[A-Za-z0-9_-]{20,}',
  },
  {
    kind: 'aws_secret_key',
    anywhere: true,
    anyCase: true,
    needle: 'aws_secret_access_key',
    pattern: raw`aws_secret_access_key["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
  },
  { kind: 'google_oauth_secret', needle: 'GOCSPX-', pattern: 'GOCSPX-[A-Za-z0-9_-]{28}' },
  {
    kind: 'slack_webhook',
    anywhere: true,
    needle: raw`hooks\.slack\.com`,
    pattern: raw`https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}`,
  },
  { kind: 'pypi_token', needle: 'pypi-', pattern: 'pypi-[A-Za-z0-9_-]{50,}' },
  { kind: 'huggingface_token', needle: 'hf_', pattern: 'hf_[A-Za-z0-9]{30,}' },
  { kind: 'sendgrid_key', needle: raw`SG\.`, pattern: raw`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}` },
  { kind: 'digitalocean_token', needle: 'do[opr]_v1_', pattern: 'do[opr]_v1_[a-f0-9]{64}' },
  { kind: 'azure_storage_key', anywhere: true, needle: 'AccountKey=', pattern: 'AccountKey=([A-Za-z0-9+/]{86}==)' },
  { kind: 'age_key', anywhere: true, needle: 'AGE-SECRET-KEY-1', pattern: 'AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}' },
  {
    kind: 'jwt',
    onlyInMessages: true,
    needle: raw`\.eyJ`,
    pattern: raw`eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{16,}`,
  },
  {
    kind: 'authorization_header',
    onlyInMessages: true,
    anywhere: true,
    anyCase: true,
    needle: 'authorization',
    pattern: raw`authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3}([A-Za-z0-9._~+/=-]{16,})`,
  },
  {
    kind: 'url_password',
    onlyInMessages: true,
    anyCase: true,
    needle: raw`://[^\s:/@]{1,64}:`,
    pattern: raw`[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:([^\s/@]{8,128})@`,
    placeholder: /^(?:\$.*|<.*|\{.*|\*+|x+|password|changeme|example)$/i,
  },
];
