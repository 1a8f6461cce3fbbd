module coxswain.invalid/clients/go

go 1.24
