/**
 * What `kube-root-ca.crt` holds in a cluster of a test: a certificate without a key, the same in every run. The port that `kubeconfig()`
 * opens has a CA of its own.
 */
export const testRootCa = `-----BEGIN CERTIFICATE-----
MIIBjTCCATOgAwIBAgIUOLh2h8Xq45+1idWPZyDh/HFkfqYwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQY294c3dhaW4tdGVzdC1jYTAgFw0yNjExMTgwNDM1MTFaGA8y
MTI2MTAyNTA0MzUxMVowGzEZMBcGA1UEAwwQY294c3dhaW4tdGVzdC1jYTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABKAsM/9RxqLQXsnvuGm0aEzyQlBEiplyUoAZ
gZLP6ZEipnf6xP7cRRG2OZQBfKVasCvYopuq+dJJLdabeWNR1lqjUzBRMB0GA1Ud
DgQWBBRcCQH9qcq10WLulLEG0fLDLeRjojAfBgNVHSMEGDAWgBRcCQH9qcq10WLu
lLEG0fLDLeRjojAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIDaD
eCcoAutRlccPZplHOv9929uksFyP7pIeUaZC1jP7AiEAwU9bpVbuy0GwiTSStcRr
MPIal4Jv1SqMHS7fsD7QSlI=
-----END CERTIFICATE-----
`
