// One of each kind of content, as the servers' tool `contents` gives it.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

export const contents = [
  { type: "text", text: "one of each" },
  { type: "image", data: PNG, mimeType: "image/png" },
  { type: "audio", data: WAV, mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "memo://one", mimeType: "text/plain", text: "first memo" } },
  { type: "resource_link", uri: "memo://two", name: "two" },
];
