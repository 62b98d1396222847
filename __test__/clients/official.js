/** What every official client must see; each client's test says how it calls its exceptions. */

/** HTTP errors: status, code, and whether the command's model has it. */
export const httpErrors = [
  [400, 'ValidationException', true],
  [402, 'ServiceQuotaExceededException', true],
  [403, 'AccessDeniedException', true],
  [404, 'ResourceNotFoundException', true],
  [409, 'RetryableConflictException', true],
  [424, 'RuntimeClientError', true],
  [429, 'ThrottlingException', true],
  [500, 'InternalServerException', true],
  [401, 'UnauthorizedException', false],
  [409, 'ConflictException', false],
];

/** Exceptions within the stream. */
export const streamErrors = [
  ['accessDeniedException', 'AccessDeniedException'],
  ['internalServerException', 'InternalServerException'],
  ['resourceNotFoundException', 'ResourceNotFoundException'],
  ['serviceQuotaExceededException', 'ServiceQuotaExceededException'],
  ['throttlingException', 'ThrottlingException'],
  ['validationException', 'ValidationException'],
  ['runtimeClientError', 'RuntimeClientError'],
];
