// The few LAPACK routines that are used, as Fortran exports them (matrices by columns). OpenBLAS brings them.
#pragma once

namespace locus::lapack {
extern "C" {
void dgesv_(const int* n, const int* right, double* a, const int* lda, int* pivots, double* b, const int* ldb, int* info);
void dgelsd_(const int* m, const int* n, const int* right, double* a, const int* lda, double* b, const int* ldb, double* s, const double* rcond, int* rank, double* work,
             const int* lwork, int* iwork, int* info);
void dgecon_(const char* norm, const int* n, const double* a, const int* lda, const double* anorm, double* rcond, double* work, int* iwork, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* right, const double* a, const int* lda, double* b, const int* ldb, int* info);
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* values, double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dsyevr_(const char* job, const char* range, const char* uplo, const int* n, double* a, const int* lda, const double* low, const double* high, const int* first, const int* last,
             const double* tolerance, int* found, double* values, double* vectors, const int* ldz, int* support, double* work, const int* lwork, int* iwork, const int* liwork, int* info);
}
}  // namespace locus::lapack
